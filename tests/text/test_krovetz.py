"""The Krovetz stemmer: what it conflates, what it keeps apart, what it promises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sicetnon.text import krovetz
from sicetnon.text.krovetz import KrovetzStemmer, headwords, shorter_forms

STEMMER = KrovetzStemmer()

PAIRS = """
countries country | studies study | families family | movies movie | calories calorie
boxes box | churches church | horses horse | crises crisis | voters voter | cookies cookie
children child | men man | women woman | mice mouse | wives wife | thieves thief
went go | made make | taught teach | written write | brought bring | chosen choose
argued argue | banned ban | controlled control | called call | hoped hope | denied deny
tried try | agreed agree | added add | used use | panicked panic | wasted waste
arguing argue | getting get | planning plan | dying die | lying lie | studying study
voting vote | using use | selling sell | trafficking traffic | reversing reverse
larger large | easier easy | bigger big | strongest strong | happiest happy
immigrants immigrant | obesity obese | legalization legalize | homosexuality homosexual
currently current | legally legal | independence independence | temporarily temporary
homelessness homeless | laziness lazy | researchers research | researcher research
illegally illegal | depletion depletion | enforcement enforce
american america | germans germany | british britain | swiss switzerland
"""
KEPT = """
government united news goods arms means politics economics university universal universe
is was his this did news always perhaps during something jesus texas thomas
general generate generous organization organism wing king thing string need seed
"""


def pairs() -> list[tuple[str, str]]:
    cells = (cell.split() for cell in PAIRS.replace("\n", "|").split("|"))
    return [(cell[0], cell[1]) for cell in cells if cell]


@pytest.mark.parametrize(("word", "stem"), pairs())
def test_conflates(word: str, stem: str) -> None:
    assert STEMMER.stem(word) == stem


@pytest.mark.parametrize("word", sorted(set(KEPT.split())))
def test_keeps_apart(word: str) -> None:
    assert STEMMER.stem(word) == word


@pytest.mark.parametrize(
    "word", ["", "a", "us", "covid-19", "naïve", "Running", "running1", "３rd"]
)
def test_what_is_no_plain_word_comes_back(word: str) -> None:
    assert STEMMER.stem(word) == word


def test_an_unknown_word_loses_its_plural_only() -> None:
    words = ["grobbles", "grobblies", "grobblus", "grobbless", "grobbling", "grobbized", "grobly"]
    stems = ["grobble", "grobbly", "grobblus", "grobbless", "grobbling", "grobbize", "grobly"]
    assert STEMMER.stem_words(words) == stems


def test_stem_words_keeps_order_and_repeats() -> None:
    words = ["wars", "kill", "wars"]
    assert STEMMER.stem_words(words) == ["war", "kill", "war"]
    assert words == ["wars", "kill", "wars"]
    assert STEMMER.stem_words([]) == []


def test_every_headword_is_a_plain_word() -> None:
    words = headwords()
    assert len(words) > 40_000
    assert all(w.isascii() and w.isalpha() and w.islower() and len(w) > 1 for w in words)


def test_a_stem_of_a_headword_is_stable() -> None:
    changed = [
        word for word in headwords() if STEMMER.stem(STEMMER.stem(word)) != STEMMER.stem(word)
    ]
    assert changed == []


def test_every_direct_conflation_ends_at_a_stable_word() -> None:
    for table in (krovetz._IRREGULAR_FORMS, krovetz._NATIONS):
        for form, base in krovetz._conflations(table).items():
            assert STEMMER.stem(form) == base
            assert STEMMER.stem(base) == base


def test_shorter_forms_undo_one_ending() -> None:
    assert "hope" in shorter_forms("hoped")
    assert "ban" in shorter_forms("banned")
    assert shorter_forms("politely", derived=False) == []
    assert shorter_forms("xyz") == []


@given(st.text())
def test_never_raises_never_empties(word: str) -> None:
    stem = STEMMER.stem(word)
    assert stem or not word


LETTERS = st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=24)
ENDING = st.sampled_from([*krovetz._ENDINGS, ""])


@given(LETTERS, ENDING, ENDING)
def test_a_stem_is_a_plain_word_and_a_headword_stays_put(root: str, first: str, last: str) -> None:
    stem = STEMMER.stem(root + first + last)
    assert stem.isascii()
    assert stem.isalpha()
    if stem in headwords() and len(stem) > 2:
        assert STEMMER.stem(stem) in (stem, krovetz._known()[stem])


@given(st.sampled_from(sorted(headwords())), ENDING)
def test_a_second_stemmer_agrees(root: str, ending: str) -> None:
    assert KrovetzStemmer().stem(root + ending) == STEMMER.stem(root + ending)
