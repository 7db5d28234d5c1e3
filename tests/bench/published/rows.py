"""What a row of the page is: a setting that somebody measured, and the plans that answer it."""
from dataclasses import dataclass, field

QUARTER = 0.25


@dataclass(frozen=True, eq=False)
class Row:
    """One published figure. The plan of `forced` is held against it; `auto` stands beside."""
    setting: str
    machine: str
    model: str
    theirs: float
    unit: str = "tokens/s"  # tokens/s | s | times | one of planner.LARGEST
    ranks: int = 1
    keys: dict = field(default_factory=dict)
    micro: tuple = (1,)  # sequences of a micro-batch; the fastest of several counts
    micros: int = 1  # micro-batches a rank and step
    forced: dict = field(default_factory=dict)  # what they say of their plan, in our keys
    against: dict = None  # unit "times": how much faster than with these keys
    machine_with: dict = field(default_factory=dict)  # rates that their machine has instead
    fitted: str = ""  # the constant that was chosen by this row, which is then not judged
    is_cheap: bool = False  # the test asks for this plan anew
    why: str = ""


@dataclass(frozen=True)
class Paper:
    """A source with its rows."""
    name: str
    about: str
    rows: tuple


def ratio(row, ours):
    """Ours as a part of theirs, above 1 where ours is faster or more; None where nothing fits."""
    if ours is None:
        return None
    return row.theirs / ours if row.unit == "s" else ours / row.theirs


def is_beyond(row, ours):
    """Whether the row has to say why: rounded as the page shows it."""
    part = ratio(row, ours)
    return part is None or round(abs(part - 1), 2) > QUARTER
