# Someone who has read README.md, with a table of visits to a clinic: age, visits.
shoal init visits.csv
sed -i 's/# visits: {low: , high: }/visits: {low: 0, high: 20}/' visits.yaml  # in an editor
shoal cluster visits.csv -k 3 --epsilon 1 --domain visits.yaml -o groups
#? groups/report.html
#= in 3 groups
