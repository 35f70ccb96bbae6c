# An analyst of a school district: semicolons, decimal commas, blanks, dates, a codebook.
shoal init marks.csv
#= numbers written like 1.234,5
shoal init marks.csv --numbers 1.234,5 --from codebook.csv --overwrite
#= told apart by Student ID
#= Scholarship: two answers
shoal plan -k 4 --n-expected 3000 --domain marks.yaml --columns "Mean mark,Attendance %" --quiet
shoal cluster marks.csv -k 4 --epsilon 1 --domain marks.yaml --numbers 1.234,5 \
    --ledger marks.ledger --title "Pupils of the district" -o groups
#= people in 4 groups
shoal ledger show marks.ledger
#? groups/report.html
#? groups/profiles.csv
