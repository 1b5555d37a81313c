"""Text analysis: both tokenisers against the rules, words, stop words, stems."""

from __future__ import annotations

import random
import re
import sys
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sicetnon.errors import UsageError
from sicetnon.text import analysis as analysis_module
from sicetnon.text import words as words_module
from sicetnon.text.analysis import (
    ANALYSES,
    DEFAULT_ANALYSIS,
    STEMMERS,
    STOP_LISTS,
    Analysis,
    encode,
    named_analysis,
    stemmer,
    stemmer_version,
    stop_list,
)
from sicetnon.text.unicode import (
    IDEOGRAPH,
    LAST_POINT,
    LETTER,
    MARK,
    SCANNER_VERSION,
    SYLLABLE,
    UNICODE_VERSION,
    character_class,
    classify,
    fold,
)
from sicetnon.text.words import MAX_WORD_BYTES, CompiledWordTable, DictWordTable, WordTable, join

modestly = settings(max_examples=150, derandomize=True)
Table = WordTable | DictWordTable | CompiledWordTable
TABLES: list[type[Table]] = [DictWordTable, CompiledWordTable]
each_table = pytest.mark.parametrize("kind", TABLES)


# the tokeniser


def plain_tokens(text: str, scanner: int = SCANNER_VERSION) -> list[str]:
    """The rules of `text.words` and `text.characters`, a character at a time."""
    tokens: list[str] = []
    word, apostrophe, syllable = "", False, False

    def end_word() -> None:
        nonlocal word, apostrophe, syllable
        if word and len(word.encode()) <= MAX_WORD_BYTES:
            tokens.append(word)
        word, apostrophe, syllable = "", False, False

    for character in full_width(text) if scanner > 1 else text:
        kind, folded = plain_kind(character, scanner)
        if kind == "ignored" or (kind == "mark" and not word):
            continue
        if kind == "syllable" or (syllable and kind != "mark"):
            end_word()
        if kind == "apostrophe" and word and not apostrophe:
            apostrophe = True
        elif kind in ("word", "mark", "syllable"):
            word, apostrophe, syllable = word + folded, False, syllable or kind == "syllable"
        else:
            end_word()
            tokens.extend([character] if kind == "ideograph" else [])
    end_word()
    return tokens


def full_width(text: str) -> str:
    halves = {chr(point) for point in range(0xFF66, 0xFFDD)}
    wide = (unicodedata.normalize("NFKC", c) if c in halves else c for c in text)
    return unicodedata.normalize("NFC", "".join(wide))


# Thaana, the scripts of India and its neighbours, and others with vowels above or below a letter
VOWELS = (
    "\u0780-\u07bf\u0900-\u109f\u1700-\u17b3\u17b6-\u17ff\u1900-\u1aaf\u1b00-\u1c7f\ua800-\uabff"
    "\U00010a00-\U00010a3f\U00011000-\U00011fff\U00016f00-\U00016f9f"
)
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u1b00-\u1b7f\ua980-\ua9ff"
    "\uaa60-\uaadf\U00011700-\U0001174f"
)
IDEOGRAPHS = (
    "\u3005-\u3007\u3021-\u3029\u3041-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff"
    "\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
OLD_IDEOGRAPHS = "\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff"


def plain_kind(character: str, scanner: int) -> tuple[str, str]:
    point, category, is_new = ord(character), unicodedata.category(character), scanner > 1
    if character in "'’ʼ＇":
        return "apostrophe", ""
    if point >= 0x20000:
        kinds = {2: "ideograph", 3: "ideograph", 14: "ignored"} if is_new else {}
        return kinds.get(point >> 16, "separator"), character
    if is_new and category[0] == "M" and is_one_of(character, VOWELS):
        return "mark", unicodedata.normalize("NFKD", character)
    if category in ("Mn", "Mc", "Me", "Cf") and not (is_new and point == 0x200B):
        return "ignored", ""
    if category[0] not in "LN":
        return "separator", ""
    if is_one_of(character, IDEOGRAPHS if is_new else OLD_IDEOGRAPHS):
        return "ideograph", ""
    return plain_letter(character, is_new)


def plain_letter(character: str, is_new: bool) -> tuple[str, str]:
    if 0xAC00 <= ord(character) <= 0xD7A3:
        return "word", character
    folded = fold(character)
    if not is_new:
        folded = "".join(c for c in folded if not unicodedata.combining(c))
    marks = {c for c in folded if is_new and unicodedata.category(c)[0] == "M"}
    letters = "".join(c for c in folded if c not in marks)
    if not (letters.isdecimal() or letters.isalpha()):
        return "separator", ""
    is_syllable = is_new and not character.isnumeric() and is_one_of(character, UNSPACED)
    return ("syllable" if is_syllable else "word"), folded


def is_one_of(character: str, ranges: str) -> bool:
    return re.fullmatch(f"[{ranges}]", character) is not None


def tokens_of(texts: list[str], table: Table, scanner: int = SCANNER_VERSION) -> list[list[str]]:
    older = scanner if scanner < SCANNER_VERSION else None
    numbers, ends = table.scan(*join(Analysis("x", older_scanner=older).encode(texts)))
    known = table.words()
    starts = [0, *ends.tolist()]
    return [
        [known[number] for number in numbers[start:end]]
        for start, end in zip(starts, ends.tolist(), strict=False)
    ]


RUNS = st.builds(
    lambda character, size: character * size,
    st.sampled_from("aZ7é٣ßＡ한漢'-\u0301ŉนีद\u093f\U00020000"),
    st.sampled_from([1, 2, 31, 32, 42, 43, 63, 64, 65, 127, 128, 129, 200]),
)
MIXED = st.text(
    alphabet="abZ 019٣２²½'’ʼ＇-_.éÉe\u0301\u200d\ufe0fß漢ア한ﾊﾟ€😀𝔸𐐀\U00020000\U000e0101\x00"
    "\u200bदिक\u093c्कำนี่ກຳက္ខុ\u1112\u1161\u11abか\u3099々〇\ufa19\u0344"
)
TEXTS = st.one_of(
    st.text(),
    MIXED,
    st.lists(st.one_of(RUNS, MIXED, st.text(max_size=3)), max_size=6).map("".join),
    st.text(alphabet=st.characters(max_codepoint=0x4FF)),
    st.text(alphabet=st.characters(max_codepoint=0x7F)),
)


each_scanner = pytest.mark.parametrize("scanner", range(1, SCANNER_VERSION + 1))


@each_table
@each_scanner
@modestly
@given(texts=st.lists(TEXTS, max_size=5))
def test_the_tokenisers_keep_the_rules(kind: type[Table], scanner: int, texts: list[str]) -> None:
    expected = [plain_tokens(text, scanner) for text in texts]
    assert tokens_of(texts, kind(scanner), scanner) == expected


# the tables have the characters of this version
of_these_characters = pytest.mark.skipif(
    unicodedata.unidata_version != UNICODE_VERSION, reason="other Unicode data than the tables"
)


@of_these_characters
def test_the_table_has_the_rules() -> None:
    points = range(LAST_POINT)
    for point in points:
        kind, folded = classify(point)
        expected = kind, folded if kind in (LETTER, IDEOGRAPH, MARK, SYLLABLE) else ""
        found = character_class(point, SCANNER_VERSION)
        assert (found[0], found[1] if expected[1] else "") == expected


@of_these_characters
@each_table
@each_scanner
def test_every_character_is_classified_by_the_rules(kind: type[Table], scanner: int) -> None:
    points = [*range(0xD800), *range(0xE000, 0x20100), *range(0xE0000, 0xE0200), 0x10FFFF]
    texts = [f"a{chr(point)}b" for point in points]
    found = tokens_of(texts, kind(scanner), scanner)
    assert [
        (hex(point), tokens)
        for point, text, tokens in zip(points, texts, found, strict=True)
        if tokens != plain_tokens(text, scanner)
    ] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("Don't! The teacher’s pay—isn’t 'it'?", "dont the teachers pay isnt it"),
        ("rock 'n' roll, o''neil, '90s", "rock n roll o neil 90s"),
        ("b2b in 2020: ２０ and ٣٤", "b2b in 2020 20 and 34"),
        ("don'4t", "don4t"),
        ("under_score e-mail a.b", "under score e mail a b"),
        ("cafe\u0301s, co\u00adoperate, zero\u200bwidth", "cafes cooperate zero width"),
        ("दिन दान हिन्दी", "दिन दान हिन्दी"),
        ("ประเทศไทย น้ำ", "ป ร ะ เ ท ศ ไ ท ย น้ ํา"),
        ("ខ្មែរ2020 မြန်မာ", "ខ្ មែ រ 2020 မြ န် မာ"),
        ("𠮷野家は二〇年 人々", "𠮷 野 家 は 二 〇 年 人 々"),
        ("ｶﾞｿﾘﾝ ガ ﾊﾟ ｰ", "ガ ソ リ ン ガ パ ー"),
        ("\u1112\u1161\u11ab국어 ﾡￂ", "한국어 가"),
        ("か\u3099 \ufa19 \U0002f800", "が 神 丽"),
        ("न\u093cक ऩक", "न\u093cक न\u093cक"),
        ("\u093fक a'\u093fb", "क a\u093fb"),
        ("क्‍ष क्ष", "क्ष क्ष"),
        ("日本語 text 한국어", "日 本 語 text 한국어"),
        ("x\ud83dy", "x y"),
        ("a" * 128 + " " + "b" * 129 + " é" + "é" * 128, "a" * 128),
        ("é" * 128, "e" * 128),
    ],
)
@each_table
def test_tokens_by_example(kind: type[Table], text: str, expected: str) -> None:
    assert tokens_of([text], kind()) == [expected.split()]


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Éclair", "eclair"), ("Straße", "strasse"), ("ﬁ", "fi"), ("２", "2"), ("Æ", "ae"),
        ("İstanbul", "istanbul"), ("Ελληνικά", "ελληνικα"), ("Łódź", "lodz"), ("٣", "3"),
        ("ª", "a"), ("Þórr", "thorr"), ("ŒUVRE", "oeuvre"), ("ΣΑΣ", "σασ"), ("ΐ", "ι"),
        ("ǅ", "dz"), ("ẞ", "ss"), ("Ⅷ", "viii"), ("ı", "i"), ("Й", "и"), ("x", "x"), ("", ""),
    ],
)  # fmt: skip
def test_letters_are_folded(text: str, folded: str) -> None:
    assert fold(text) == folded
    for kind in TABLES:
        assert tokens_of([text], kind()) == [[folded] if folded else []]


@each_table
@modestly
@given(text=TEXTS)
def test_canonically_equivalent_texts_have_the_same_tokens(kind: type[Table], text: str) -> None:
    text = encode(text).decode()
    forms = [unicodedata.normalize(form, text) for form in ("NFC", "NFD")]
    composed, decomposed, own = tokens_of([*forms, text], kind())
    assert composed == decomposed == own


# the table of words


def numbered(words: list[str], known: dict[str, int]) -> list[int]:
    return [known.setdefault(word, len(known)) for word in words]


STEPS = st.tuples(
    st.sampled_from(["insert", "scan"]), st.integers(0, 2000), st.integers(0, 900), st.booleans()
)


MANY = [("insert", 0, 900, True), ("scan", 500, 900, False), ("insert", 0, 2000, True)]


@settings(modestly, max_examples=40)
@given(st.lists(STEPS, max_size=8), st.integers(0, 8))
@example(MANY, 0)
@example(MANY, 1)
@example(MANY, 9)
def test_words_are_numbered_as_they_are_met(
    steps: list[tuple[str, int, int, bool]], small: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        # so much is done plainly before the table becomes a compiled one
        left = iter([True] * small)
        patch.setattr(words_module, "use_numpy", lambda seconds: next(left, False))
        check_numbers(steps)


def check_numbers(steps: list[tuple[str, int, int, bool]]) -> None:
    table, known = WordTable(), dict[str, int]()
    for verb, start, count, parted in steps:
        words = [f"{'long' * (n % 7)}w{n}" for n in range(start, start + count)]
        if verb == "insert":
            found = table.insert([word.encode() for word in words])
        else:
            texts = words if parted else [" ".join(words)]
            found, ends = table.scan(*join([text.encode() for text in texts]))
            assert len(ends) == len(texts)
        assert found.tolist() == numbered(words, known)
        assert len(table) == len(known)
    assert table.words() == list(known)
    assert table.words(len(known) // 2) == list(known)[len(known) // 2 :]
    check_compact(table, known)


def check_compact(table: Table, known: dict[str, int]) -> None:
    """The compact arrays hold each word at its number."""
    offsets, letters = table.compact()
    assert (len(offsets), len(letters)) == (len(known) + 1, offsets[-1])
    for word, number in known.items():
        assert letters[offsets[number] : offsets[number + 1]].tobytes() == word.encode()


@modestly
@given(words=st.lists(st.text(max_size=6)), longest=st.integers(0, 99))
def test_compact_tables_are_equal(words: list[str], longest: int) -> None:
    inserted = [*(word.encode() for word in words), b"long" * longest]
    compact = []
    for kind in TABLES:
        table = kind()
        table.insert(inserted)
        compact.append(table.compact())
    for plain, compiled in zip(*compact, strict=True):
        assert plain.dtype == compiled.dtype
        assert plain.tolist() == compiled.tolist()


@each_table
@modestly
@given(words=st.lists(st.text(max_size=6)))
def test_any_words_may_be_inserted(kind: type[Table], words: list[str]) -> None:
    table, known = kind(), dict[str, int]()
    for _ in range(2):
        assert table.insert([word.encode() for word in words]).tolist() == numbered(words, known)
    assert table.words() == list(known)
    check_compact(table, known)


@each_table
def test_words_that_differ_in_one_letter_are_told_apart(kind: type[Table]) -> None:
    # keys, rests and letters hold the parts of a word, by its size
    words = ["a" * size for size in range(1, 40)]
    for size in (6, 7, 8, 14, 15, 16, 17, 33):
        words += ["a" * place + "b" + "a" * (size - place - 1) for place in range(size)]
    encoded, count = [word.encode() for word in words], len(words)
    scanned, inserted = kind(), kind()
    texts = [" ".join(words).upper().encode(), " ".join(reversed(words)).encode()]
    numbers, _ = scanned.scan(*join(texts))
    assert numbers.tolist() == [*range(count), *reversed(range(count))]
    assert inserted.insert(encoded).tolist() == scanned.insert(encoded).tolist() == [*range(count)]
    assert scanned.words() == inserted.words() == words


@each_table
def test_an_empty_table_is_whole(kind: type[Table]) -> None:
    table = kind()
    assert (len(table), table.words(), table.insert([]).tolist()) == (0, [], [])
    numbers, ends = table.scan(*join([]))
    assert (numbers.size, ends.size) == (0, 0)
    check_compact(table, {})


@each_table
def test_texts_longer_than_the_table_find_room(kind: type[Table]) -> None:
    words = [f"w{number}" for number in range(20_000)]
    table = kind()
    assert tokens_of(["", " ".join(words), "", "w5"], table) == [[], words, [], ["w5"]]
    assert len(table) == len(words)


# analyses

SENTENCE = "The teachers' unions weren't arguing about the teacher's tenure in 2020."
TERMS = {
    "plain": "the teachers unions werent arguing about the teachers tenure in 2020",
    "porter": "the teacher union werent argu about the teacher tenur in 2020",
    "porter-stop": "teacher union argu teacher tenur 2020",
    "forms": "teachers unions werent arguing about teachers tenure 2020",
}


@pytest.mark.parametrize("name", ANALYSES)
def test_named_analyses_by_example(name: str) -> None:
    analyzer = named_analysis(name).analyzer()
    assert " ".join(analyzer.terms_of(SENTENCE)) == TERMS[name]
    assert " ".join(analyzer.terms_of(SENTENCE)) == TERMS[name]
    assert analyzer.terms_of("…!?") == []


def test_the_default_analysis_has_a_name() -> None:
    assert named_analysis(DEFAULT_ANALYSIS).name == DEFAULT_ANALYSIS


def test_stop_words_go_before_stemming() -> None:
    analyzer = Analysis("x", "porter2", "snowball").analyzer()
    assert analyzer.terms_of("doing being having our ours") == []
    assert analyzer.terms_of("hav does willing") == ["hav", "will"]


def test_forms_stay_apart_and_know_their_stem() -> None:
    analyzer = Analysis("x", "porter2", "lucene", forms=True).analyzer()
    assert analyzer.terms_of("Voters voted; the vote") == ["voters", "voted", "vote"]
    assert analyzer.stems_of("Voters voted; the vote") == ["voter", "vote", "vote"]
    plain = Analysis("x", "porter2", "lucene").analyzer()
    assert plain.stems_of("Voters voted") == plain.terms_of("Voters voted") == ["voter", "vote"]


def test_no_word_is_stemmed_twice() -> None:
    analyzer = Analysis("x", "porter2", "lucene").analyzer()
    seen, stem = list[str](), analyzer.stem

    def counting(words: list[str]) -> list[str]:
        seen.extend(words)
        return stem(words)

    analyzer.stem = counting
    for text in ("vote votes the vote", "votes voting the", "Vote! vote's", "and VOTING"):
        analyzer.terms_of(text)
    assert seen == ["vote", "votes", "voting"]
    assert analyzer.terms.words() == ["vote"]


@modestly
@given(texts=st.lists(TEXTS, max_size=4), name=st.sampled_from(sorted(ANALYSES)))
def test_an_analyzer_equals_its_parts(texts: list[str], name: str) -> None:
    analysis = ANALYSES[name]
    analyzer, stem = analysis.analyzer(), stemmer(analysis.stemmer)
    stops = stop_list(analysis.stop_words)
    words, ends = analyzer.word_numbers(*join(analysis.encode(texts)))
    terms = analyzer.terms.words()
    start = 0
    for text, end in zip(texts, ends.tolist(), strict=True):
        kept = [word for word in plain_tokens(text) if word not in stops]
        expected = kept if analysis.forms else stem(kept)
        numbers = analyzer.term_of_word[words[start:end]]
        assert [terms[number] for number in numbers if number >= 0] == expected
        assert analyzer.terms_of(text) == expected
        assert analyzer.stems_of(text) == stem(kept)
        start = end
    assert analyzer.term_of_word.dtype == np.int32


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "y"},
        {"stemmer": "none"},
        {"stop_words": "snowball"},
        {"forms": True},
    ],
)
def test_a_signature_tells_every_setting(changes: dict[str, str | bool]) -> None:
    analysis = Analysis("x", "porter2", "lucene")
    assert analysis.signature() == Analysis("x", "porter2", "lucene").signature()
    assert replace(analysis, **changes).signature() != analysis.signature()  # type: ignore[arg-type]


def test_a_signature_tells_versions_and_words(monkeypatch: pytest.MonkeyPatch) -> None:
    analysis = Analysis("x", "porter2", "lucene")
    known = [analysis.signature()]
    monkeypatch.setattr(analysis_module, "stemmer_version", lambda name: "another")
    known.append(analysis.signature())
    monkeypatch.setattr(analysis_module, "SCANNER_VERSION", 10**6)
    known.append(analysis.signature())
    monkeypatch.setitem(analysis_module.STOP_LISTS, "lucene", STOP_LISTS["lucene"] | {"more"})
    known.append(analysis.signature())
    assert all(known[i] != known[j] for i in range(4) for j in range(i))


def test_stemmers_know_their_versions() -> None:
    versions = [stemmer_version(name) for name in STEMMERS]
    assert versions[0] == ""
    assert len(set(versions)) == len(STEMMERS)
    assert all(stemmer(name)([]) == [] for name in STEMMERS)
    assert stemmer("none")(["Votes"]) == ["Votes"]


def test_stop_words_are_written_as_the_tokeniser_makes_them() -> None:
    assert len(STOP_LISTS["lucene"]) == 33
    assert STOP_LISTS["none"] == frozenset()
    for words in STOP_LISTS.values():
        assert all(plain_tokens(word) == [word] for word in words)


@pytest.mark.parametrize(
    ("choose", "names"),
    [(named_analysis, ANALYSES), (stop_list, STOP_LISTS), (stemmer, STEMMERS)],
)
def test_unknown_names_are_refused_with_the_choices(
    choose: Callable[[str], object], names: list[str]
) -> None:
    with pytest.raises(UsageError, match=r"unknown .* 'klingon'; choose one of") as caught:
        choose("klingon")
    assert str(caught.value).endswith(", ".join(names))


def test_threads_share_an_analyzer() -> None:
    analyzer = named_analysis("porter-stop").analyzer()

    def read(seed: int) -> bool:
        rng = random.Random(seed)
        texts = (
            " ".join("".join(rng.choices("bcdfgk", k=7)) for _ in range(5)) for _ in range(400)
        )
        return all(len(analyzer.terms_of(text)) == 5 for text in texts)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(read, range(8)))
    finally:
        sys.setswitchinterval(interval)
