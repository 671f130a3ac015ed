"""Countries by their two letters, and the mains circuits that are wired there."""

from difflib import get_close_matches
from functools import lru_cache

Circuit = tuple[float, float]
"""Volts, and the amperes of breaker or plug, whichever is less."""

COUNTRY_NAMES = {
    "AT": "Austria",
    "AU": "Australia",
    "BE": "Belgium",
    "BR": "Brazil",
    "CA": "Canada",
    "CH": "Switzerland",
    "CN": "China",
    "CZ": "Czechia",
    "DE": "Germany",
    "DK": "Denmark",
    "ES": "Spain",
    "FI": "Finland",
    "FR": "France",
    "GB": "United Kingdom",
    "HK": "Hong Kong",
    "HU": "Hungary",
    "IE": "Ireland",
    "IN": "India",
    "IT": "Italy",
    "JP": "Japan",
    "KR": "South Korea",
    "MX": "Mexico",
    "NL": "Netherlands",
    "NO": "Norway",
    "NZ": "New Zealand",
    "PL": "Poland",
    "PT": "Portugal",
    "SE": "Sweden",
    "SG": "Singapore",
    "SK": "Slovakia",
    "TW": "Taiwan",
    "US": "United States",
}
"""Names of the countries whose circuits are known."""
SPELLINGS = {"UK": "GB", "EL": "GR"}
"""Letters that people write for a country, to those of ISO 3166-1."""
OTHER_NAMES = {
    "USA": "US",
    "AMERICA": "US",
    "ENGLAND": "GB",
    "GREAT BRITAIN": "GB",
    "CZECH REPUBLIC": "CZ",
    "KOREA": "KR",
    "HOLLAND": "NL",
    "DEUTSCHLAND": "DE",
    **{name.upper(): code for code, name in COUNTRY_NAMES.items()},
}
"""Names of countries as people write them, to the letters of ISO 3166-1."""

_NORTH: tuple[Circuit, ...] = (
    (120.0, 15.0),
    (120.0, 20.0),
    (208.0, 20.0),
    (240.0, 20.0),
    (208.0, 30.0),
    (240.0, 30.0),
)
_16: tuple[Circuit, ...] = ((230.0, 16.0), (230.0, 32.0))
_13: tuple[Circuit, ...] = ((230.0, 13.0), *_16)
_10: tuple[Circuit, ...] = ((230.0, 10.0), *_16)
_PACIFIC: tuple[Circuit, ...] = ((230.0, 10.0), (230.0, 15.0), (230.0, 20.0), (230.0, 32.0))

CIRCUITS: dict[str, tuple[Circuit, ...]] = {
    "US": _NORTH,
    "CA": _NORTH,
    "MX": ((127.0, 15.0), (127.0, 20.0), (220.0, 20.0), (220.0, 30.0)),
    "TW": ((110.0, 15.0), (110.0, 20.0), (220.0, 20.0), (220.0, 30.0)),
    "JP": ((100.0, 15.0), (100.0, 20.0), (200.0, 20.0), (200.0, 30.0)),
    "BR": ((127.0, 20.0), (220.0, 20.0), (220.0, 32.0)),
    "GB": _13,
    "IE": _13,
    "SG": _13,
    "DK": _13,
    "HK": ((220.0, 13.0), (220.0, 16.0), (220.0, 32.0)),
    "CH": _10,
    "SE": _10,
    "AU": _PACIFIC,
    "NZ": _PACIFIC,
    "CN": ((220.0, 10.0), (220.0, 16.0), (220.0, 32.0)),
    "KR": ((220.0, 16.0), (220.0, 32.0)),
    **dict.fromkeys(
        ("AT", "BE", "CZ", "DE", "ES", "FI", "FR", "HU", "IN", "IT", "NL", "NO", "PL", "PT", "SK"),
        _16,
    ),
}
"""The usual outlet of a country first (IEC World Plugs), then what electricians wire beside it,
smallest first, by the plug standards in force there: NEMA WD 6, JIS C 8303, CNS 690, NBR 14136,
AS/NZS 3112, and IEC 60309-2 for 16 and 32 A elsewhere (unverified: the standards were not read for
this table). Only offered to the owner, never assumed: houses differ."""

USUAL: dict[str, Circuit] = {code: circuits[0] for code, circuits in CIRCUITS.items()}
"""The usual outlet by country."""

_ISO = (
    "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR"
    " BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ"
    " EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW"
    " GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY"
    " KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV"
    " MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY"
    " QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG"
    " TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA"
    " ZM ZW"
)
COUNTRIES = frozenset(_ISO.split())
"""ISO 3166-1 alpha-2."""
NEAR = 0.5
"""Likeness from which two letters are offered for others: one of them agrees."""


def country_code(text: str) -> str | None:
    """Return the two letters of ISO 3166-1 for a country as people write them, None for letters
    that no country has."""
    letters = text.strip().upper()
    code = SPELLINGS.get(letters, letters)
    return code if code in COUNTRIES else None


def country_named(text: str) -> str | None:
    """Return the two letters of a country by its letters or its English name, None for others."""
    return country_code(text) or OTHER_NAMES.get(text.strip().upper())


@lru_cache(64)
def near_countries(text: str) -> tuple[str, ...]:
    """Return the countries whose letters are nearest to a text, those with known circuits first."""
    letters = text.strip().upper()
    known = get_close_matches(letters, sorted(USUAL), cutoff=NEAR)
    return tuple(known or get_close_matches(letters, sorted(COUNTRIES), cutoff=NEAR))


def circuits_of(country: str | None) -> tuple[Circuit, ...] | None:
    """Return what is wired in a country, smallest first; None where that is not known."""
    return CIRCUITS.get(country_code(country or "") or "")
