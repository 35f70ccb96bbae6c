# A data officer who must hand a table to a partner, and then say how risky it is.
shoal anonymize init people.csv -o policy.yaml -k 5
#= REVIEW
#= telephone: other
#= steps: other
shoal anonymize --policy policy.yaml --dry-run
shoal anonymize --policy policy.yaml --explain
#= at least 5 people share every combination
shoal anonymize check people.released.csv --policy policy.yaml
shoal attack linkage people.released.csv --raw people.csv --policy policy.yaml
#= Everyone with a matching record has 5 or more
#? people.released.report.html
#? people.released.manifest.json
