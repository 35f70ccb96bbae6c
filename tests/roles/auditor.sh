# A reviewer who reads "epsilon-private" and wants to know whether it is true.
shoal audit --list
shoal audit nd-laplace --epsilon 1 --draws 4000 --seed 1 -o verdict.html
#= consistent
cat > mine.py <<'END'
def noisy_count(rows, rng):
    return len(rows) + round(rng.laplace(0, 0.5))  # sold as epsilon 1
END
shoal audit --python mine:noisy_count --pair '[[0], [0, 0]]' --epsilon 1 --draws 4000 --seed 1 || test $? = 1
#= violated
shoal data make school --rows 2000
shoal attack membership school.csv -k 3 --epsilon 1 --domain school.yaml \
    --columns sessions_per_week,minutes_per_session --sample-rows 400 --shadows 16
#= ceiling of the advantage
#? verdict.html
