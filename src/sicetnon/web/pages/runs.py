"""Views of the page Runs: scored runs, and two of them side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sicetnon.evaluation import evaluate, load_run
from sicetnon.evaluation.inputs import Source, load_qrels
from sicetnon.formats.runs import unordered
from sicetnon.library.index import Index
from sicetnon.records import Ranking, Run, Topic
from sicetnon.report.contents import Contents, Label, Texts, gather, key, labels_of
from sicetnon.text.snippets import Piece

DEPTH = 20
"""Documents of a run that are kept for a topic."""


@dataclass(frozen=True)
class ScoredRuns:
    """Runs that were scored.

    Attributes:
        runs: The first documents of each run, by its name.
        titles: The question of each topic, where it is known.
    """

    contents: Contents
    runs: Mapping[str, Run]
    titles: Mapping[str, str]

    @property
    def topics(self) -> list[str]:
        """All topics that a run answers, or that are judged, in the order of their numbers."""
        answered = {topic for run in self.runs.values() for topic in run.rankings}
        return sorted(answered | {each.number for each in self.contents.topics}, key=key)


@dataclass(frozen=True)
class TopicLine:
    """A topic in the comparison of two runs.

    Attributes:
        title: Its question; empty where it is not known.
        first: The score of the first run; None where the topic does not count.
        second: That of the second run.
    """

    number: str
    title: str
    first: float | None
    second: float | None

    @property
    def difference(self) -> float | None:
        """The score of the first run minus that of the second."""
        known = self.first is not None and self.second is not None
        return self.first - self.second if known else None  # type: ignore[operator]


@dataclass(frozen=True)
class ComparedHit:
    """A document that one of two runs found.

    Attributes:
        other: Its rank in the other run; None where that has not found it so far up.
        labels: Its label in each file of judgments; None for none.
        stance: The stance that the run gives it; else empty.
        text: The part of its text that has most to do with the question.
        is_known: Whether the index has it.
    """

    rank: int
    document: str
    other: int | None
    labels: Mapping[str, Label | None]
    stance: str
    text: Sequence[Piece]
    is_known: bool


def scored_runs(
    runs: Mapping[str, Source],
    qrels: Mapping[str, Source],
    topics: Iterable[Topic] | None,
    measure: str = "nDCG@5",
    rule: str = "official",
) -> ScoredRuns:
    """Score runs, and keep what the pages of them show.

    Args:
        runs: The runs by name.
        qrels: The judgments by name.
        topics: The questions, where they are known.
        measure: As ir_measures writes it.
        rule: The rule by which runs are read.

    Raises:
        DataError: A file cannot be used.
        UsageError: There is no such measure or rule.
    """
    loaded = {name: load_run(source, name) for name, source in runs.items()}
    judged = {name: load_qrels(source, name) for name, source in qrels.items()}
    asked = None if topics is None else list(topics)
    scores = evaluate(loaded, judged, measure, rule=rule)
    contents = gather(scores, loaded, judged, None, asked)
    is_pairs = any(each.pairs for each in judged.values())
    kept = {name: _first(unordered(run) if is_pairs else run) for name, run in loaded.items()}
    titles = {topic.number: topic.title for topic in asked or ()}
    return ScoredRuns(contents, kept, titles)


def topic_links(found: ScoredRuns) -> list[tuple[str, str, str]]:
    """Each topic with its question and its anchor, to which the tables of the report lead."""
    judged = {each.number: place for place, each in enumerate(found.contents.topics, start=1)}
    return [
        (
            topic,
            found.titles.get(topic, ""),
            f"topic-{judged[topic]}" if topic in judged else f"unjudged-{place}",
        )
        for place, topic in enumerate(found.topics, start=1)
    ]


def topic_lines(found: ScoredRuns, first: str, second: str, part: int = 1) -> list[TopicLine]:
    """The scores of two runs, the greatest difference first.

    Args:
        found: The scored runs.
        first: A run.
        second: Another one.
        part: By which file of judgments and measure: the section of the report, from 1.
    """
    section = found.contents.sections[part - 1]
    values = {score.run: score.values for score in section.scores}
    lines = [
        TopicLine(
            topic,
            found.titles.get(topic, ""),
            values.get(first, {}).get(topic),
            values.get(second, {}).get(topic),
        )
        for topic in found.topics
    ]
    return sorted(lines, key=lambda line: (line.difference is None, -abs(line.difference or 0.0)))


def compared_hits(
    index: Index, found: ScoredRuns, topic: str, first: str, second: str
) -> tuple[list[ComparedHit], list[ComparedHit]]:
    """The first documents of two runs for a topic, with texts as far as the index has them."""
    rankings = [found.runs[name].rankings.get(topic) for name in (first, second)]
    ids = [each.ids if each is not None else () for each in rankings]
    wanted = list(dict.fromkeys((*ids[0], *ids[1])))
    texts = Texts(index)
    snippets = texts.snippets(wanted, found.titles.get(topic, "")) if wanted else {}
    known = {document for document in snippets if index.number(document) is not None}

    def hits(ranking: Ranking | None, others: Sequence[str]) -> list[ComparedHit]:
        if ranking is None:
            return []
        places = {document: rank for rank, document in enumerate(others, start=1)}
        return [
            ComparedHit(
                rank,
                document,
                places.get(document),
                labels_of(found.contents.qrels, topic, document),
                "" if ranking.stances is None else ranking.stances[rank - 1],
                snippets.get(document, ()),
                document in known,
            )
            for rank, document in enumerate(ranking.ids, start=1)
        ]

    return hits(rankings[0], ids[1]), hits(rankings[1], ids[0])


def _first(run: Run) -> Run:
    """A run without what no page shows."""
    rankings = {number: each.best(DEPTH) for number, each in run.rankings.items()}
    return Run(run.name, run.tag, rankings, run.repeated)
