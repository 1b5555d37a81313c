"""Gather the contents of a report from scores, runs and judgments."""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from sicetnon.errors import UsageError
from sicetnon.evaluation.inputs import (
    Qrels,
    Source,
    Sources,
    each_source,
    load_qrels,
    load_run,
    order_by_score,
)
from sicetnon.evaluation.measures import parse_measure
from sicetnon.evaluation.scores import Score, short_names
from sicetnon.evaluation.unjudged import ScoringRule, shorten_all
from sicetnon.formats.files import refuse_pipe
from sicetnon.formats.identifiers import argument_of, halves, one_order
from sicetnon.formats.qrels import STANCES
from sicetnon.formats.topics import read_topics
from sicetnon.records import ProcessedArgument, Ranking, Record, Run, Topic
from sicetnon.text.analysis import content_of
from sicetnon.text.snippets import Piece, snippet

if TYPE_CHECKING:
    from sicetnon.index.reader import IndexReader


TOP = 5
"""Documents of a run that are shown for a topic."""

Shares = Mapping[str, float]


@dataclass(frozen=True)
class Section:
    """The scores of all runs by one measure and one file of judgments.

    Attributes:
        scores: Best first.
        depth: The cut of the measure; None for none, and for stances.
        topics: The topics that count for at least one run, in the order of their numbers.
        judged: For each run that was read, the share of judged documents by topic.
        baseline: The score of the run that the others are compared with; None for the median.
    """

    scores: tuple[Score, ...]
    depth: int | None
    topics: tuple[str, ...]
    judged: Mapping[str, Shares]
    baseline: Score | None

    @property
    def first(self) -> Score:
        """A score; measure, rule and judgments are the same for all."""
        return self.scores[0]

    @property
    def is_stance(self) -> bool:
        """Whether the judgments are of stances."""
        return self.first.dimension == "stance"

    @cached_property
    def medians(self) -> Shares:
        """The median over the runs, by topic."""
        return {
            topic: statistics.median(
                score.values[topic] for score in self.scores if topic in score.values
            )
            for topic in self.topics
        }

    @property
    def other(self) -> Score | None:
        """The score of the run that others are compared with; None for the median of the runs.

        Of two runs it is the worse one: their median would halve each difference.
        """
        if self.baseline is None and len(self.scores) == 2:
            return self.scores[1]
        return self.baseline

    @property
    def reference(self) -> Shares:
        """The values that runs are compared with, by topic."""
        return self.medians if self.other is None else self.other.values

    @property
    def with_stances(self) -> list[Score]:
        """The scores of the runs that give a stance to at least one judged document."""
        return [
            score
            for score in self.scores
            if any(any(row[: len(STANCES)]) for row in score.confusion or ())
        ]

    def reference_name(self, names: Mapping[str, str]) -> str:
        """The name of the reference on the page."""
        return "the median of the runs" if self.other is None else names[self.other.run]

    @property
    def judged_name(self) -> str:
        """`judged@5`, or `judged` where there is no depth."""
        return "judged" if self.depth is None else f"judged@{self.depth}"

    @property
    def compared(self) -> list[Score]:
        """The scores of the runs that are compared with the reference."""
        return [score for score in self.scores if score is not self.other]

    def differences(self, score: Score) -> dict[str, float]:
        """The values of a run minus those of the reference, by topic, greatest first."""
        pairs = (
            (topic, score.values[topic] - self.reference[topic])
            for topic in self.topics
            if topic in score.values and topic in self.reference
        )
        return dict(sorted(pairs, key=lambda pair: -pair[1]))


@dataclass(frozen=True)
class Hit:
    """A document that a run found."""

    document: str
    stance: str


@dataclass(frozen=True)
class TopicHits:
    """The documents that the runs found for a topic."""

    number: str
    title: str
    hits: Mapping[str, tuple[Hit, ...]]

    @property
    def documents(self) -> list[str]:
        """All documents found, each once."""
        return list(dict.fromkeys(hit.document for hits in self.hits.values() for hit in hits))


@dataclass(frozen=True)
class Contents:
    """The contents of a report.

    Attributes:
        names: The name of each run on the page; runs in the order of the first section.
        sections: One per file of judgments and measure.
        qrels: The judgments, by their name on the page.
        by_rank: Whether the documents of a run are in the order of its ranks, not of its scores.
    """

    names: Mapping[str, str]
    sections: tuple[Section, ...]
    topics: tuple[TopicHits, ...]
    qrels: Mapping[str, Qrels]
    by_rank: bool

    def heading(self, section: Section) -> str:
        """The subject of a section, and its difference from the others."""
        first = section.first
        name = next(name for name, each in self.qrels.items() if each.name == first.qrels)
        parts = [name[:1].upper() + name[1:]]
        others = [other.first for other in self.sections if other.first.qrels == first.qrels]
        if len({other.measure for other in others}) > 1:
            parts.append(first.measure)
        if len({other.rule for other in others}) > 1:
            parts.append(first.rule)
        return ", ".join(parts)


def gather(
    scores: Sequence[Score],
    runs: Sources,
    qrels: Sources,
    baseline: Source | None,
    topics: Iterable[Topic] | Path | str | None,
) -> Contents:
    """Gather the contents of a report. Runs are read one after the other, and not kept."""
    if not scores:
        raise UsageError("found no score to report; evaluate at least one run")
    judgments = {each.name: each for each in _each_qrels(qrels)}
    groups = _grouped(scores, judgments)
    order = list(dict.fromkeys(score.run for score in scores))
    chosen = _chosen(scores, baseline, order)
    by_rank = _by_rank(scores)
    judged_topics = sorted({topic for each in judgments.values() for topic in each.topics}, key=key)
    hits: dict[str, dict[str, tuple[Hit, ...]]] = {}
    judged: list[dict[str, Shares]] = [{} for _ in groups]
    for name, source in _sources(runs, baseline):
        if isinstance(source, str | Path):
            refuse_pipe(source)
        run = load_run(source, name)
        if run.name not in order or run.name in hits:
            continue
        answered = [topic for topic in judged_topics if topic in run.rankings]
        hits[run.name] = {topic: _top(run.rankings[topic], by_rank) for topic in answered}
        for shares, group in zip(judged, groups, strict=True):
            shares[run.name] = _judged(run, judgments[group[0].qrels], group[0])
    # of a baseline that is none of the runs, only the scores are known
    if missing := [name for name in order if name not in hits and name != chosen]:
        raise UsageError(f"found scores of {missing[0]}, which is not among the runs; give it too")
    return Contents(
        run_names(scores, [name for name, _ in each_source(runs) if name]),
        tuple(map(_section, groups, judged, [chosen] * len(groups))),
        tuple(_topic_hits(judged_topics, _titles(topics), hits, order)),
        _named(judgments),
        by_rank,
    )


def key(topic: str) -> tuple[bool, int, str]:
    """Sort key of topics: numbers in their order, then other names."""
    return (False, int(topic), topic) if topic.isdecimal() else (True, 0, topic)


def run_names(scores: Sequence[Score], given: Collection[str] = ()) -> dict[str, str]:
    """Short names of runs: given names, else tags, else the parts in which their paths differ."""
    tags = {score.run: score.run if score.run in given else score.tag for score in scores}
    if all(tags.values()) and len(set(tags.values())) == len(tags):
        return tags
    return bare_names(list(tags))


def bare_names(names: Sequence[str]) -> dict[str, str]:
    """Names without shared folders, and without endings where they still differ then."""
    short = short_names(names) if len(names) > 1 else {name: PurePath(name).name for name in names}
    bare = {name: text.removesuffix(".gz").removesuffix(".txt") for name, text in short.items()}
    bare = {name: text.removesuffix(".qrels") for name, text in bare.items()}
    return bare if all(bare.values()) and len(set(bare.values())) == len(bare) else short


def _each_qrels(qrels: Sources) -> list[Qrels]:
    return [load_qrels(source, name) for name, source in each_source(qrels)]


def _grouped(scores: Sequence[Score], judgments: Mapping[str, Qrels]) -> list[list[Score]]:
    """The scores of each section."""
    groups: dict[tuple[str, ScoringRule, str], list[Score]] = {}
    for score in scores:
        if score.qrels not in judgments:
            raise UsageError(f"found scores on {score.qrels}, which is not among the judgments")
        if not score.values.keys() <= set(judgments[score.qrels].topics):
            raise UsageError(f"{score.qrels} lacks topics of its scores; give what was evaluated")
        group = groups.setdefault((score.qrels, score.rule, score.measure), [])
        if any(other.run == score.run for other in group):
            raise UsageError(
                f"found two scores of {score.run} by {score.measure} on {score.qrels}; "
                "give the runs different names: a mapping from names to runs"
            )
        group.append(score)
    return list(groups.values())


def _chosen(scores: Sequence[Score], baseline: Source | None, order: Sequence[str]) -> str | None:
    """The name of the baseline."""
    compared = next((score.comparison.baseline for score in scores if score.comparison), None)
    if baseline is None:
        return compared
    if isinstance(baseline, str | Path):
        name = str(baseline)
    elif isinstance(baseline, Run):
        name = baseline.name
    else:
        # records and frames have no name; evaluate named them in its comparisons
        name = compared or load_run(baseline).name
    if name not in order:
        raise UsageError(f"found no score of the baseline {name}; expected one of the runs scored")
    if compared not in (None, name):
        raise UsageError(f"the scores are compared with {compared}; expected {name}")
    return name


def _by_rank(scores: Sequence[Score]) -> bool:
    """Whether a rule orders by rank. Scores of stances do not decide: they have one rule."""
    rules = {score.rule for score in scores if score.dimension != "stance"}
    return not rules or "official" in rules


def _sources(runs: Sources, baseline: Source | None) -> list[tuple[str | None, Source]]:
    """The runs, and the baseline where it is not among them."""
    named = each_source(runs)
    if baseline is None:
        return named
    if isinstance(baseline, str | Path):
        held = {name or str(source) for name, source in named}
        return named if str(baseline) in held else [*named, (None, baseline)]
    return [*named, (None, baseline)]


def _top(ranking: Ranking, by_rank: bool) -> tuple[Hit, ...]:
    if not by_rank:
        order = order_by_score(ranking)
        ranking = ranking.taken(order, ranking.scores[order])
    top = ranking.best(TOP)
    return tuple(
        Hit(document, stance if stance in STANCES else "")
        for document, stance in zip(top.ids, top.second_column, strict=True)
    )


def _topic_hits(
    topics: Sequence[str],
    titles: Mapping[str, str],
    hits: Mapping[str, Mapping[str, tuple[Hit, ...]]],
    order: Sequence[str],
) -> Iterator[TopicHits]:
    for topic in topics:
        found = {run: hits[run][topic] for run in order if topic in hits.get(run, ())}
        yield TopicHits(topic, titles.get(topic, ""), found)


def _judged(run: Run, qrels: Qrels, score: Score) -> Shares:
    """The share of judged documents by topic, among those at the depth of the measure."""
    if score.dimension == "stance":
        return {
            topic: sum(document in labels for document in run.rankings[topic].ids)
            / len(run.rankings[topic])
            for topic, labels in qrels.stances.items()
            if run.rankings.get(topic)
        }
    measure = parse_measure(score.measure, score.rule)
    lists = shorten_all(run, qrels, score.rule, measure.depth, measure.of_the_retrieved)
    return {topic: shortened.judged for topic, shortened in lists.items()}


def _section(group: Sequence[Score], judged: Mapping[str, Shares], chosen: str | None) -> Section:
    ranked = sorted(group, key=lambda score: math.inf if math.isnan(score.mean) else -score.mean)
    topics = {topic for score in group for topic in score.values}
    first = group[0]
    depth = None
    if first.dimension != "stance":
        depth = parse_measure(first.measure, first.rule).depth
    return Section(
        tuple(ranked),
        depth,
        tuple(sorted(topics, key=key)),
        judged,
        next((score for score in group if score.run == chosen), None),
    )


def _titles(topics: Iterable[Topic] | Path | str | None) -> dict[str, str]:
    if topics is None:
        return {}
    if isinstance(topics, str | Path):
        topics = read_topics(topics)
    return {topic.number: topic.title for topic in topics}


def _named(judgments: Mapping[str, Qrels]) -> dict[str, Qrels]:
    """The judgments by their dimension, or by their names where two have the same."""
    by_dimension: dict[str, Qrels] = {each.dimension: each for each in judgments.values()}
    if len(by_dimension) == len(judgments):
        return by_dimension
    short = bare_names(list(judgments))
    return {short[name]: each for name, each in judgments.items()}


_SNIPPET_LENGTH = 180
"""Characters of a text that are shown."""


class Texts:
    """Texts by document."""

    def __init__(self, source: IndexReader | Mapping[str, str]):
        self._source = source
        if isinstance(source, Mapping):
            # compiled code, which scores without texts do not need
            from sicetnon.text.analysis import DEFAULT_ANALYSIS, named_analysis

            analyzer = named_analysis(DEFAULT_ANALYSIS).analyzer()
        else:
            analyzer = source.analysis.analyzer()
        # each different word is analysed once
        self._stems: Callable[[str], list[str]] = functools.cache(analyzer.stems_of)

    def snippets(self, documents: Iterable[str], question: str) -> dict[str, tuple[Piece, ...]]:
        """For each document that has a text, the part that has most to do with a question."""
        wanted = frozenset(self._stems(content_of(question)))
        return {
            document: snippet(text, wanted, self._stems, _SNIPPET_LENGTH).pieces
            for document, text in self.of(documents).items()
        }

    def of(self, documents: Iterable[str]) -> dict[str, str]:
        """The texts that are known; the two sentences of a pair are one text."""
        documents = list(documents)
        parts = {document: halves(document) or (document,) for document in documents}
        found = self._read(
            {part for several in parts.values() for part in several} | set(documents)
        )
        texts = {}
        for document in documents:
            if document in found:
                texts[document] = found[document]
            elif all(half in found for half in parts[document]):
                texts[document] = " \u2014 ".join(found[half] for half in parts[document])
        return texts

    def _read(self, wanted: set[str]) -> dict[str, str]:
        source = self._source
        if isinstance(source, Mapping):
            return {identifier: source[identifier] for identifier in wanted if identifier in source}
        numbers: dict[str, int] = {}
        for identifier in sorted(wanted):
            # a sentence is found in its argument
            for name in (identifier, argument_of(identifier)):
                number = source.number(name)
                if number is not None:
                    numbers[identifier] = number
                    break
        records = source.records_at(list(numbers.values()))
        pairs = zip(numbers, records, strict=True)
        texts = {identifier: _record_text(record, identifier) for identifier, record in pairs}
        return {identifier: text for identifier, text in texts.items() if text is not None}


def _record_text(record: Record, identifier: str) -> str | None:
    """The text of a record, or of one sentence of it."""
    if identifier == record.id:
        return record.default_text()
    if not isinstance(record, ProcessedArgument):
        return None
    return next((each.text for each in record.sentences if each.id == identifier), None)


Label = int | str


@dataclass(frozen=True)
class HitOnPage:
    """A document that a run found, as the page shows it.

    Attributes:
        number: The same for the same document in all runs of the topic.
        labels: Its label in each file of judgments; None for none.
        stance: The stance that the run gives it; else empty.
        text: The part of its text that has most to do with the question.
    """

    document: str
    number: int
    labels: dict[str, Label | None]
    stance: str
    text: Sequence[Piece]

    @property
    def is_judged(self) -> bool:
        """Whether any judgments have a label for the document."""
        return _is_judged(self.labels)


@dataclass(frozen=True)
class TopicDocuments:
    """A topic with the first documents of all runs."""

    number: str
    title: str
    documents: int
    unjudged: int
    runs: list[tuple[str, list[HitOnPage]]]


def each_topic(contents: Contents, texts: Texts | None) -> Iterator[TopicDocuments]:
    """The documents of each topic. Texts are read one topic at a time."""
    for topic in contents.topics:
        yield _documents(contents, topic, texts)


def _documents(contents: Contents, topic: TopicHits, texts: Texts | None) -> TopicDocuments:
    numbers = {document: number for number, document in enumerate(topic.documents)}
    labels = {document: labels_of(contents.qrels, topic.number, document) for document in numbers}
    snippets = texts.snippets(numbers, topic.title) if texts is not None else {}

    def shown(hit: Hit) -> HitOnPage:
        name = hit.document
        return HitOnPage(name, numbers[name], labels[name], hit.stance, snippets.get(name, ()))

    return TopicDocuments(
        topic.number,
        topic.title,
        len(numbers),
        sum(not _is_judged(each) for each in labels.values()),
        [
            (name, [shown(hit) for hit in topic.hits[run]])
            for run, name in contents.names.items()
            if run in topic.hits
        ],
    )


def _is_judged(labels: Mapping[str, Label | None]) -> bool:
    return any(label is not None for label in labels.values())


def labels_of(qrels: Mapping[str, Qrels], topic: str, document: str) -> dict[str, Label | None]:
    """The label of a document in each file of judgments that knows the topic; None for none."""
    labels: dict[str, Label | None] = {}
    for name, each in qrels.items():
        judged: Mapping[str, Label] | None = each.grades.get(topic) or each.stances.get(topic)
        if judged is not None:
            labels[name] = judged.get(one_order(document) if each.pairs else document)
    return labels
