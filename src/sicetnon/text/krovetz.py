"""A dictionary-checked English stemmer after Krovetz (KStem).

R. Krovetz, "Viewing Morphology as an Inference Process", SIGIR 1993, pp. 191-202.

A blind suffix stripper makes one stem of *universe*, *university* and *universal*.
Krovetz takes an ending off only where a dictionary vouches for what is left, and stops at the
first headword it meets: a word that has an entry of its own is thought to have a meaning of
its own.  So *studies* gives *study*, *legalization* gives *legalize*, and *government* stays.

This is an independent implementation of the paper's idea.  The rules are one table,
``_ENDINGS``; the headwords come from Princeton WordNet (see ``data/README.md``).
"""

from __future__ import annotations

import gzip
from functools import cache
from importlib import resources

STEMMER_VERSION = "krovetz 1"
"""Raised whenever a rule or a headword changes, since indexes record it."""

__all__ = ["STEMMER_VERSION", "KrovetzStemmer", "headwords", "shorter_forms"]

# Endings peeled off one word before giving up: "sustainabilities" needs two, "illegalizers" three.
_MAX_PEELS = 3
# A derivational ending must leave this much, or "eric" would lose its own.
_MIN_ROOT = 3

_VOWELS = frozenset("aeiouy")

# Ending: what may stand in its place, most likely first.  "-" puts nothing there.  "@" marks
# an ending that begins with a vowel and may have dropped an "e" or doubled a consonant when it
# was put on (hop-ed is hope, hopp-ed is hop): see _undo_vowel_join.
_INFLECTIONS = {
    # plurals of nouns, third person of verbs
    "s": "-",
    "es": "e - is",
    "ies": "ie y",
    "sses": "ss sse",
    "ches": "ch che",
    "shes": "sh",
    "xes": "x xe",
    "zzes": "zz",
    "ves": "ve f fe",
    "men": "man",
    # past tense
    "ed": "@",
    "ied": "y ie",
    "cked": "ck c",
    # present participle
    "ing": "@",
    "ying": "y ie ye",
    "cking": "ck c",
    # comparison of adjectives (and, by the same spelling, the one who does it)
    "er": "@",
    "ier": "y",
    "est": "@",
    "iest": "y",
}

_DERIVATIONS = {
    "ly": "- le l",
    "ily": "y",
    "bly": "ble",
    "ply": "ple",
    "ally": "al -",
    "ically": "ical ic ics",
    "ness": "-",
    "iness": "y",
    "ity": "- e",
    "ability": "able @",
    "ibility": "ible @",
    "osity": "ous",
    "ion": "- e",
    "ation": "ate @",
    "ition": "ite it",
    "ication": "icate y",
    "ization": "ize ise -",
    "isation": "ise ize -",
    "ize": "- e y",
    "ise": "- e y",
    "ment": "-",
    "al": "- e",
    "ial": "- y",
    "ical": "ic y",
    "ive": "- e ion",
    "ative": "ate @",
    "or": "@",
    "able": "@",
    "ible": "@",
    "ism": "- e y",
    "ist": "- e y",
    "ic": "- e y",
    "ance": "@ ant",
    "ence": "@ ent",
    "ancy": "ant ance",
    "ency": "ent ence",
    "ful": "-",
    "less": "-",
}

_ENDINGS: dict[str, tuple[str, ...]] = {
    ending: tuple(forms.split()) for ending, forms in {**_INFLECTIONS, **_DERIVATIONS}.items()
}
_LENGTHS = sorted({len(ending) for ending in _ENDINGS}, reverse=True)

# What to make of a word that leads to no headword: the first ending that fits.  Only the plural
# and verbs in -ize are regular enough to be undone without a witness.
_GUESSES = (
    ("ss", "ss"),
    ("us", "us"),
    ("is", "is"),
    ("ies", "y"),
    ("sses", "ss"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("xes", "x"),
    ("zzes", "zz"),
    ("s", ""),
    ("ized", "ize"),
    ("izing", "ize"),
    ("ization", "ize"),
    ("ised", "ise"),
    ("ising", "ise"),
    ("isation", "ise"),
)

# Each base with the forms that no rule brings to it.  The auxiliaries (was, has, did) are left
# alone, and so is every form that is an everyday word of another meaning: better, bit, bore, data,
# found, ground, leaves, left, media, rose, saw, thought, wound.
_IRREGULAR_FORMS = """
child children, grandchild grandchildren, man men, woman women, foot feet, tooth teeth,
goose geese, mouse mice, louse lice, ox oxen, person persons, life lives, wife wives,
knife knives, thief thieves, leaf leafs, self selves, calf calves, half halves, shelf shelves,
crisis crises, thesis theses, hypothesis hypotheses, analysis analyses, diagnosis diagnoses,
criterion criteria, phenomenon phenomena, stimulus stimuli, curriculum curricula,
millennium millennia, alumnus alumni, quiz quizzes, arise arose arisen, bear borne, beat beaten,
become became, begin began begun, bind bound, bite bitten, bleed bled, blow blew blown,
break broke broken, breed bred, bring brought, build built, buy bought, catch caught,
choose chose chosen, come came, creep crept, deal dealt, die dying, dig dug, do does doing,
draw drew drawn, drink drank drunk, drive drove driven, eat ate eaten, fall fell fallen, feed fed,
feel felt, fight fought, flee fled, fling flung, fly flew flown flies, forbid forbade forbidden,
foresee foresaw foreseen, forget forgot forgotten, forgive forgave forgiven, freeze froze frozen,
get got gotten, give gave given, go goes went gone going, grow grew grown, hang hung, hear heard,
hide hid hidden, hold held, keep kept, kneel knelt, know knew known, lay laid, lead led,
learn learnt, lend lent, lie lying lain, lose lost, make made, mean meant, meet met,
mislead misled, misunderstand misunderstood, overcome overcame, overthrow overthrew overthrown,
pay paid, prove proven, put putting, ride rode ridden, ring rang rung, rise risen, run ran,
say said, see seen, seek sought, sell sold, send sent, shake shook shaken, shine shone,
shoot shot, show shown, shrink shrank shrunk, sing sang sung singing, sink sank sunk, sit sat,
slay slain slew, sleep slept, slide slid, speak spoke spoken, spend spent, spin spun, stand stood,
steal stole stolen, stick stuck, sting stung, strike struck, strive strove striven,
swear swore sworn, sweep swept, swim swam swum, swing swung, take took taken, teach taught,
tear tore torn, tell told, throw threw thrown, tie tying, undergo underwent undergone,
understand understood, undertake undertook undertaken, uphold upheld, wake woke woken,
wear wore worn, weave wove woven, weep wept, win won, withdraw withdrew withdrawn, wring wrung,
write wrote written
"""

# Each land with its people and its adjective, which the dictionary keeps apart though they share
# a topic.
_NATIONS = """
afghanistan afghan, africa african, america american, argentina argentine argentinian, asia asian,
australia australian, austria austrian, belgium belgian, brazil brazilian, britain british briton,
canada canadian, chile chilean, china chinese, colombia colombian, cuba cuban,
denmark danish dane, egypt egyptian, europe european, finland finnish finn,
france french frenchman, germany german, greece greek, hungary hungarian, indonesia indonesian,
iran iranian, iraq iraqi, ireland irish, israel israeli, italy italian, japan japanese,
kenya kenyan, korea korean, lebanon lebanese, libya libyan, mexico mexican, netherlands dutch,
nigeria nigerian, norway norwegian, pakistan pakistani, palestine palestinian, peru peruvian,
portugal portuguese, russia russian, scotland scottish, spain spanish spaniard,
sweden swedish swede, switzerland swiss, syria syrian, thailand thai, turkey turkish turk,
ukraine ukrainian, venezuela venezuelan, vietnam vietnamese
"""


def _conflations(table: str) -> dict[str, str]:
    """Turn "base form form, base form" into a map from form to base."""
    groups = (group.split() for group in table.split(","))
    return {form: base for base, *forms in groups for form in forms}


@cache
def headwords() -> frozenset[str]:
    """Return the dictionary: the words that have an entry of their own."""
    packed = resources.files("sicetnon.text").joinpath("data/headwords.txt.gz").read_bytes()
    return frozenset(gzip.decompress(packed).decode("ascii").split())


@cache
def _roots() -> dict[str, str]:
    """Map each word that an ending may be taken down to, to its stem."""
    roots = {word: word for word in headwords()}
    nations = _conflations(_NATIONS)
    roots.update((land, land) for land in nations.values())
    return roots | nations


@cache
def _known() -> dict[str, str]:
    """Map each word that needs no rule to its stem.

    An irregular form counts only as a whole word: *ranged* is no form of *rang*.
    """
    return _roots() | _conflations(_IRREGULAR_FORMS)


def _undo_vowel_join(root: str) -> tuple[str, ...]:
    """Return what a root may have been before an ending with a vowel was joined to it."""
    last, before = root[-1], root[-2]
    if len(root) == 2:
        return (root + "e", root)
    if last == before:
        # English words end in ll, ss, ff and zz; other double letters come from the joining,
        # but in very short words (add, err, egg).
        if last in "lsfz" or len(root) == 3:
            return (root, root[:-1], root + "e")
        return (root[:-1], root, root + "e")
    single_vowel = before in _VOWELS and root[-3] not in _VOWELS
    if root.endswith(("th", "ast")) or (last == "s" and before not in _VOWELS):
        return (root + "e", root)  # breathe, waste, reverse
    if single_vowel and last not in "aeiouwxy":
        return (root + "e", root)
    return (root, root + "e")


def shorter_forms(word: str, *, derived: bool = True) -> list[str]:
    """Return the words that *word* may come from by one ending, likeliest first.

    Nothing is looked up here: the forms are what the table of endings allows.

    Args:
        word: A lower-case word.
        derived: False to undo inflection only.
    """
    forms: list[str] = []
    for length in _LENGTHS:
        ending = word[-length:]
        replacements = _ENDINGS.get(ending)
        if replacements is None:
            continue
        root = word[:-length]
        if ending in _DERIVATIONS and (not derived or len(root) < _MIN_ROOT):
            continue
        if len(root) < 2:
            continue
        for replacement in replacements:
            if replacement == "@":
                forms.extend(_undo_vowel_join(root))
            else:
                forms.append(root if replacement == "-" else root + replacement)
    return forms


class KrovetzStemmer:
    """Stems lower-case English words against a dictionary.

    A headword keeps its form, and so does a word that no rule leads to a headword, but for the
    endings that can be undone without one (a plural, a verb in -ize).  So a stem is nearly always
    a word that a reader knows.  Stemming the stem of a headword changes nothing.
    """

    def __init__(self) -> None:
        self._known = _known()
        self._roots = _roots()

    def stem(self, word: str) -> str:
        """Return the stem of *word*; one that is not a-z throughout, or short, as it is."""
        if len(word) < 3 or not (word.isascii() and word.isalpha() and word.islower()):
            return word
        known = self._known.get(word)
        if known is not None:
            return known
        return self._search(word, _MAX_PEELS) or _guess(word)

    def stem_words(self, words: list[str]) -> list[str]:
        """Return the stem of each of *words*, in their order."""
        stem = self.stem
        return [stem(word) for word in words]

    def _search(self, word: str, peels: int) -> str | None:
        """Return the first headword on the way down from *word*, the nearest first."""
        forms = shorter_forms(word)
        for form in forms:
            found = self._roots.get(form)
            if found is not None:
                return found
        if peels > 1:
            for form in forms:
                found = self._search(form, peels - 1)
                if found is not None:
                    return found
        return None


def _guess(word: str) -> str:
    """Return an unknown *word* without the endings that are safe to undo unseen."""
    for ending, replacement in _GUESSES:
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word[: len(word) - len(ending)] + replacement
    return word
