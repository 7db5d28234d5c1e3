#!/usr/bin/env bash
# pbs_jobs.sh SPILLWAY: the scripts of jobs/pbs, as they are, where qstat and qsub are our own: a
# limit that is nearly reached stops a run, which submits its script with what it needs to go on.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
export SPILLWAY=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  cat "$work"/*.out >&2
  echo "$1" >&2
  exit 1
}

cd "$work"
mkdir bin scratch
ln -s "$root/jobs" jobs
"$SPILLWAY" tokenize --tokenizer byte -o tokens.h5 "$root"/lib/plan/*/*.cpp
sed -e "s|ROOT|$root|" "$here/job.yaml" >in.yaml

# qstat tells a limit of so many seconds as `limit` holds; qsub notes what it is to do.
cat >bin/qstat <<'QSTAT'
#!/bin/sh
echo "Job Id: $2"
echo "    Resource_List.walltime = 00:00:$(cat limit)"
QSTAT
cat >bin/qsub <<'QSUB'
#!/bin/sh
echo "$* with $input $keys $index" >>submitted
QSUB
chmod +x bin/*
export PATH=$work/bin:$PATH PBS_O_WORKDIR=$work PBS_NODEFILE=$work/nodes
export PBS_JOBID=12.head SCRATCH_LOCAL=$work/scratch
printf 'localhost\nlocalhost\n' >nodes  # a line for each rank, as mpiprocs has it
unset SLURM_JOB_ID

# job NAME SCRIPT: prints its status.
job() {
  local status=0
  PBS_JOBNAME=$1 bash "jobs/pbs/$2" >>"$1.out" 2>&1 || status=$?
  echo $status
}

endless="plan.activations=nvme run.log.every=1"
export input=in.yaml keys=$endless
echo 31 >limit
[[ $(job mine train.sh) == 0 ]] || fail "a job that has submitted the next one has not failed"
grep -q "qstat says that this job ends in" mine.out || fail "qstat is not asked"
expected="-N mine -v input,keys,self,SPILLWAY,SCRATCH_LOCAL jobs/pbs/train.sh with in.yaml $keys "
[[ $(cat submitted) == "$expected" ]] || fail "submitted: $(cat submitted)"
grep -q "\"ranks\": 2" runs/mine/environment.json || fail "it does not run on two ranks"
grep -q "path: $SCRATCH_LOCAL" runs/mine/config.yaml || fail "it spilled to another place"

# The next one comes to the end, and leaves it at that.
rm submitted
keys="$endless run.steps=$(($(cut -d- -f2 runs/mine/latest) + 1))"
echo 59 >limit
[[ $(job mine train.sh) == 0 && ! -e submitted ]] || fail "the run is done"

# A run of an array goes on alone, as the number that it was.
keys=$endless
echo 31 >limit
[[ $(PBS_ARRAY_INDEX=1 job sweep array-sweep.sh) == 0 ]] || fail "sweep: has failed"
expected="-N sweep -v input,keys,index,self,SPILLWAY,SCRATCH_LOCAL jobs/pbs/array-sweep.sh with "
[[ $(cat submitted) == "$expected"*" 1" ]] || fail "submitted: $(cat submitted)"
grep -q 'lr: 0.0006' runs/sweep/1/config.yaml || fail "sweep: it is another setting"

# What another try would not mend is not tried.
rm submitted
keys="model.heads=3"
[[ $(job wrong train.sh) == 2 && ! -e submitted ]] || fail "wrong input is submitted again"
