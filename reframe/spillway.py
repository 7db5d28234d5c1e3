"""Trains a small GPT with the program that is there: the loss must fall."""
import json
import os
import statistics

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import performance_function, run_before, sanity_function, variable

TREE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@rfm.simple_test
class TrainSmallGpt(rfm.RunOnlyRegressionTest):
    descr = "spillway trains a small GPT on its own documents"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    sourcesdir = os.path.join(TREE, "docs")
    time_limit = "10m"

    spillway = variable(str, value="spillway")  # the program: a name on PATH, or a path
    inputs = variable(str, value=os.path.join(TREE, "input"))
    steps = variable(int, value=40)
    ranks = variable(int, value=1)
    overrides = variable(str, value="")  # key=value,key=value: a larger model, another plan
    least_fall = variable(float, value=0.1)  # of the first steps' loss

    @run_before("run")
    def train_on_documents(self):
        self.num_tasks = self.ranks
        # The launcher starts training alone: the tokens are made once, before it.
        self.prerun_cmds = [f"{self.spillway} tokenize --tokenizer byte -o tokens.h5 *.md"]
        self.executable = self.spillway
        settings = {
            "model.layers": 2, "model.hidden": 64, "model.heads": 2,
            "data.train": "tokens.h5", "data.valid": "none", "data.sequence": 64,
            "batch.sequences": 8, "optim.warmup": 5, "memory.device": "auto",
            "memory.nvme": "none", "plan.activations": "auto", "run.steps": self.steps,
            "run.dir": "run", "run.log.every": 1, "run.eval.every": 0,
        }
        self.executable_opts = ["train", os.path.join(self.inputs, "quickstart.yaml"),
                                *(f"{key}={value}" for key, value in settings.items()),
                                *(self.overrides.split(",") if self.overrides else [])]

    def rows(self):
        with open(os.path.join(self.stagedir, "run", "metrics.jsonl")) as lines:
            return [row for row in map(json.loads, lines) if "event" not in row]

    @sanity_function
    def loss_falls(self):
        losses = [row["loss"] for row in self.rows()]
        part = max(1, len(losses) // 8)
        first, last = statistics.mean(losses[:part]), statistics.mean(losses[-part:])
        return sn.all([
            sn.assert_eq(self.rows()[-1]["step"], self.steps, "ended after step {0} of {1}"),
            sn.assert_lt(last, first * (1 - self.least_fall), "loss ends at {0}, wanted below {1}"),
        ])

    @performance_function("tokens/s")
    def tokens_per_s(self):
        return statistics.median(row["tokens_per_s"] for row in self.rows())
