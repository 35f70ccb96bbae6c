# Someone who lives in a shell: pipes, JSON, exit codes, settings in the environment.
shoal --version
shoal --help
shoal init visits.csv -o - > visits.yaml
gzip -k visits.csv
zcat visits.csv.gz | shoal cluster - -k 3 --epsilon 1 --domain visits.yaml -o groups --json > result.json
python -c 'import json; print(len(json.load(open("result.json"))["groups"]), "groups")'
#= 3 groups
export SHOAL_EPSILON=0.5 SHOAL_QUIET=1
shoal cluster visits.csv -k 2 --domain visits.yaml -o other
shoal cluster missing.csv -k 2 --domain visits.yaml || test $? = 2
shoal report groups -o page.html
#? page.html
#? other/report.html
