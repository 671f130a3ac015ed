"""`rigplanner best`: the best rig for some work and some money, with its proof."""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import msgspec
from msgspec.structs import replace

from rigplanner.catalog.cloud import shipped_cloud
from rigplanner.catalog.find.find import PartIndex
from rigplanner.catalog.imports.user_catalog import newest_rates
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.prices.exchange import ExchangeRates, convert, with_rate
from rigplanner.catalog.schema.parts import GPU
from rigplanner.cli.amounts import budgets_asked
from rigplanner.cli.asked import whole_works, works_asked
from rigplanner.cli.faults import FINDINGS, FINE, InputFault
from rigplanner.cli.reading import no_part_text, open_catalog
from rigplanner.cli.terminal import tell
from rigplanner.cli.written import written
from rigplanner.planning.aims import AIMS, aim_of
from rigplanner.planning.best.answer import Answer, Seeker
from rigplanner.planning.best.answer import answers as asked
from rigplanner.planning.best.certificate import as_json
from rigplanner.planning.best.choices import front, knee, rivals
from rigplanner.planning.best.hire import hired
from rigplanner.planning.best.named import UnknownPart, circuit_named, part_named
from rigplanner.planning.best.nearest import changes
from rigplanner.planning.best.question import Objective, Owned, Question, Size, Want
from rigplanner.planning.best.reads import LADDER
from rigplanner.planning.best.upgrade import RESALE, from_rig, sold, worth
from rigplanner.planning.best.verify import read_certificate, verify
from rigplanner.report.format import money
from rigplanner.report.language import tr
from rigplanner.report.words import best as words
from rigplanner.rig.countries import USUAL, country_named
from rigplanner.rig.document import Site
from rigplanner.rig.files import RigFault, read_rig, write_rig

MOST_BUDGETS = 20
LONGEST_S = 120.0
"""So long a search goes on where nobody says: a few questions about models that lie in RAM in part
take hours to prove, and a rig with its gap says more than none."""
SOON_S = 1.0
"""After so long what is the best so far is told on standard error, each time that it changes."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument(
        "works",
        nargs="*",
        metavar="WORK",
        help="a model with fields, 'llama-3.1-8b task=train_qlora'; weight=2 counts it twice,"
        f" min=20 asks for that speed; or a purpose: {', '.join(AIMS)}",
    )
    parser.add_argument("--budget", default="", help="the most it may cost; several as 2000,5000")
    parser.add_argument("--currency", help="default: the budget's, else USD")
    parser.add_argument("--country", default="", help="two letters, or its name; sets the circuit")
    parser.add_argument("--objective", choices=(*get_args(Objective), "front"), default="fastest")
    parser.add_argument("--front", action="store_true", help="all rigs that nothing else beats")
    parser.add_argument("--used", action="store_true", help="prices of used parts count too")
    parser.add_argument(
        "--abroad", action="store_true", help="prices of other markets count for every part"
    )
    parser.add_argument("--tight", action="store_true", help="memory may just hold it, or not")
    parser.add_argument("--quiet", action="store_true", help="it stands beside a person")
    parser.add_argument("--size", choices=get_args(Size), default="any", help="largest board")
    parser.add_argument("--growth", type=int, default=0, help="slots for cards to come (0 to 4)")
    parser.add_argument("--maker", action="append", default=[], help="maker of the GPUs' chips")
    parser.add_argument("--not-maker", action="append", default=[], help="maker to leave out")
    parser.add_argument(
        "--pin", action="append", default=[], metavar="[N×]PART", help="a must; of cards at least N"
    )
    parser.add_argument(
        "--own", action="append", default=[], metavar="[N×]PART", help="is there, costs nothing"
    )
    parser.add_argument("--circuit", default="", metavar="230V16A", help="the circuit it hangs on")
    parser.add_argument("--price-age", type=int, default=730, help="oldest price in days")
    parser.add_argument("--cards", type=int, default=16, help="most cards (default: 16)")
    parser.add_argument("--cores", type=int, default=6, help="least processor cores")
    parser.add_argument("--ram", type=float, default=32, help="least RAM, GiB")
    parser.add_argument("--storage", type=float, default=900, help="least drive, GB")
    parser.add_argument("--rig", type=Path, help="the next step from this rig")
    parser.add_argument("--resale", type=float, default=100 * RESALE, help="per cent of its price")
    parser.add_argument("--rate", action="append", default=[], metavar="USD=31.5")
    parser.add_argument(
        "--seconds",
        type=float,
        default=LONGEST_S,
        help=f"stop after so long; the gap is told (default: {LONGEST_S:.0f})",
    )
    parser.add_argument("--json", action="store_true", help="the answer as JSON")
    parser.add_argument("--save", type=Path, metavar="FILE.json", help="write the certificate")
    parser.add_argument("--verify", type=Path, metavar="FILE.json", help="check a certificate")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.rig", help="write the rig")


def run(args: argparse.Namespace) -> int:
    """Print the answer; 1 when nothing within the budget does it, or a certificate fails."""
    catalog = open_catalog()
    if args.verify is not None:
        return _verify(args.verify, catalog)
    today = datetime.now(UTC).astimezone().date().isoformat()
    budgets, args.currency = budgets_asked(args.budget, args.currency, MOST_BUDGETS)
    question = _question(args, catalog, today)
    ends: float = time.monotonic() + args.seconds

    def stays() -> bool:
        return time.monotonic() < ends

    if args.front or args.objective == "front" or len(budgets) > 1:
        return _several(args, question, budgets, catalog, today)
    if budgets:
        question = replace(question, budget=budgets[0])
    if args.rig is not None:
        question = _upgraded(args, question, catalog, today)
    start = time.monotonic()
    for found in asked(question, catalog, today, args.save is not None, stays):
        seeker, answer = found
        waited = time.monotonic() - start > SOON_S
        if answer.best is not None and answer.gap is not None and waited and stays():
            proven = words.proof_text(answer.total, answer.gap)
            print(f"{words.headline(answer)} {proven}", file=sys.stderr, flush=True)
    if answer.gap is not None:
        seeker = seeker.asking(seeker.question, lambda: True)
    _write(args, answer, catalog)
    if args.json:
        print(json_text(answer, seeker))
    else:
        _tell(answer, seeker, question)
    return FINE if answer.best is not None else FINDINGS


def _verify(path: Path, catalog: Catalog) -> int:
    try:
        certificate = read_certificate(path.read_bytes())
    except (OSError, msgspec.MsgspecError) as fault:
        raise InputFault(f"{path}: expected a certificate of `best --save` ({fault}).") from fault
    verdict = verify(certificate, catalog)
    for line in verdict.faults:
        tell(line)
    families, rigs = verdict.families, f"{verdict.rigs:,}"
    if verdict.holds:
        tell(tr("The certificate holds: {rigs} rigs, {count} families.", rigs=rigs, count=families))
        return FINE
    tell(tr("The certificate does not hold."))
    return FINDINGS


def _question(args: argparse.Namespace, catalog: Catalog, today: str) -> Question:
    if not args.works:
        raise InputFault("expected a work, for example 'llama-3.1-8b task=serve'.")
    currency = args.currency
    rates = _rates(args.rate, currency)
    if convert(1.0, "USD", currency, rates) is None:
        raise InputFault(
            f"--currency: no rate leads from USD to {currency}; give one: --rate USD=<amount>."
        )
    for name, value, most in (
        ("growth", args.growth, 4),
        ("cards", args.cards, 16),
        ("price-age", args.price_age, 36500),
    ):
        if not 0 <= value <= most:
            raise InputFault(f"--{name}: expected 0 to {most}, found {value}.")
    pinned = [_counted(words, "--pin", catalog) for words in args.pin]
    return Question(
        wants=wants_of(args.works),
        objective="fastest" if args.objective == "front" else args.objective,
        currency=currency,
        site=_site(args.country, args.circuit),
        rates=rates,
        used=args.used,
        abroad=args.abroad,
        tight=args.tight,
        quiet=args.quiet,
        size=args.size,
        growth=args.growth,
        makers=tuple(args.maker),
        not_makers=tuple(args.not_maker),
        pinned=tuple(part for part, _ in pinned),
        least_cards=max((n for part, n in pinned if _is_card(part, catalog)), default=0),
        owned=tuple(_owned(words, catalog) for words in args.own),
        price_age_days=args.price_age,
        most_cards=args.cards,
        cores=args.cores,
        ram_gib=args.ram,
        storage_gb=args.storage,
    )


def wants_of(texts: Sequence[str]) -> tuple[Want, ...]:
    """Return works in words: a model with fields, or the name of a purpose. Raises InputFault for
    what nothing knows."""
    wants = []
    for text in whole_works(texts, AIMS):
        if text in AIMS:
            wants.append(Want(workload=aim_of(text, "").workload))
        else:
            (work,) = works_asked([text])
            wants.append(Want(workload=work.workload, weight=work.weight, at_least=work.least))
    return tuple(wants)


def _rates(given: list[str], currency: str) -> ExchangeRates:
    rates = newest_rates()
    for word in given:
        code, _, amount = word.partition("=")
        code = code.strip().upper()
        try:
            value = float(amount.split()[0])
            to = amount.split()[1].upper() if len(amount.split()) > 1 else currency
        except (ValueError, IndexError) as fault:
            raise InputFault(f"--rate: expected 'USD=31.5', found {word!r}.") from fault
        made = with_rate(rates, code, value, to)
        if made is None:
            raise InputFault(f"--rate: no rate is known of {code} or {to}.")
        rates = made
    return rates


def site_of(country: str) -> Site:
    """Return the usual circuit of a country, none for "". Raises InputFault for an unknown one."""
    if not country:
        return Site()
    code = country_named(country)
    if code not in USUAL:
        raise InputFault(
            f"--country: expected one of {', '.join(sorted(USUAL))}, found {country!r}."
        )
    volts, amperes = USUAL[code]
    return Site(country=code, volts=volts, breaker_a=amperes)


def _site(country: str, circuit: str) -> Site:
    site = site_of(country)
    if not circuit:
        return site
    told = circuit_named(circuit)
    if told is None:
        raise InputFault(f"--circuit: expected volts and amperes as 230V16A, found {circuit!r}.")
    return replace(site, volts=told[0], breaker_a=told[1])


def _counted(text: str, option: str, catalog: Catalog) -> tuple[str, int]:
    """Return a part and how many of it words mean."""
    index = PartIndex(catalog.parts.values())
    try:
        return part_named(text, catalog, index)
    except UnknownPart as fault:
        raise InputFault(f"{option}: {no_part_text(str(fault), index)}.") from fault


def _is_card(part_id: str, catalog: Catalog) -> bool:
    return isinstance(catalog.get(part_id), GPU)


def _owned(text: str, catalog: Catalog) -> Owned:
    part, many = _counted(text, "--own", catalog)
    return Owned(part=part, quantity=many)


def _upgraded(
    args: argparse.Namespace, question: Question, catalog: Catalog, today: str
) -> Question:
    try:
        rig = read_rig(args.rig)
    except RigFault as fault:
        raise InputFault(str(fault)) from fault
    if not 0 <= args.resale <= 100:
        raise InputFault(f"--resale: expected 0 to 100 per cent, found {args.resale:g}.")
    return from_rig(question, rig, catalog, today, args.resale / 100)


def _several(
    args: argparse.Namespace,
    question: Question,
    budgets: list[float],
    catalog: Catalog,
    today: str,
) -> int:
    """Print a front, or one line for each budget."""
    seeker = Seeker(question, catalog, today)
    seekers = [seeker]
    if len(budgets) > 1:
        answers = [_laddered(budget, seekers) for budget in sorted(budgets)]
    else:
        answers = _front(budgets[0] if budgets else None, seekers)
    if args.json:
        print(msgspec.json.encode([_plain(answer, seeker) for answer in answers]).decode())
        return FINE if any(answer.best for answer in answers) else FINDINGS
    points = [answer.best for answer in answers if answer.best is not None]
    bend = knee(points) if len(budgets) < 2 else None
    for answer in answers:
        tell(_line(answer, seeker, bend is not None and answer.best is points[bend]))
    if answers:
        tell(words.proof_text(answers[0].total, None))
        notes = [words.sound_text(each) for each in answers if each.best and _is_noted(each)]
        for note in dict.fromkeys(notes):
            tell(f"* {note}")
        tell(words.outside_text())
    return FINE if points else FINDINGS


def _front(most: float | None, seekers: list[Seeker]) -> list[Answer]:
    """Return the front of sound rigs, cheapest first; where none is sound, one step of strictness
    down."""
    for seeker in _by_strictness(seekers):
        if found := list(front(seeker, most))[::-1]:
            return found
    return []


def _by_strictness(seekers: list[Seeker]) -> Iterator[Seeker]:
    """Yield who answers, ever less strict; `seekers` are those that were needed by now."""
    for at, strictness in enumerate(LADDER):
        if at == len(seekers):
            seekers.append(seekers[0].asking(seekers[0].question, strictness=strictness))
        yield seekers[at]


def _laddered(budget: float, seekers: list[Seeker]) -> Answer:
    """Return the answer for a budget: of sound rigs, else one step of strictness down."""
    sure = None
    for seeker in _by_strictness(seekers):
        *_, answer = seeker.answers(budget)
        answer = replace(answer, sure=sure)
        sure = answer.best
        if sure is not None and not seeker.is_worth_the_doubt(sure):
            break
    return answer


def _is_noted(answer: Answer) -> bool:
    return answer.strictness != LADDER[0]


def _line(answer: Answer, seeker: Seeker, is_knee: bool) -> str:
    question, best = answer.question, answer.best
    budget = "" if question.budget is None else money(question.budget, question.currency, True)
    if best is None:
        return f"{budget:>14}  {words.headline(answer)}"
    name = words.cards_text(best, seeker.catalog)
    sign = tr("  <- the knee") if is_knee else ""
    price = money(best.price, question.currency)
    mark = " *" if _is_noted(answer) else ""
    return f"{price:>14}  {words.speed_text(best):44}  {name}{sign}{mark}"


def _write(args: argparse.Namespace, answer: Answer, catalog: Catalog) -> None:
    if args.save is not None and answer.certificate is not None:
        written(args.save, as_json(answer.certificate))
    if args.output is not None and answer.best is not None:
        from rigplanner.planning.best.proof import with_proof

        rig = replace(with_proof(answer.best.rig, answer), name=args.output.stem)
        try:
            write_rig(rig, args.output, catalog)
        except RigFault as fault:
            raise InputFault(str(fault)) from fault


def _tell(answer: Answer, seeker: Seeker, question: Question) -> None:
    tell(words.headline(answer))
    if answer.best is None:
        if answer.gap is None:
            for line in words.possible_texts(changes(seeker), seeker):
                tell(line)
        for line in words.left_out_texts(answer):
            tell(f"  {line}")
        return
    tell(words.proof_text(answer.total, answer.gap))
    tell(words.sound_text(answer))
    reasons = words.reason_texts(answer.best, seeker)
    rows = words.item_rows(answer.best, seeker)
    for item, (name, said) in zip(answer.best.rig.items, rows, strict=True):
        tell(f"  {name}   ({said})")
        if item.uid in reasons:
            tell(f"      {reasons[item.uid]}")
    for line in words.beside_texts(answer):
        tell(line)
    for line in (
        *words.doubt_texts(answer.best, seeker.market),
        words.price_text(answer.best, seeker.market),
    ):
        if line:
            tell(line)
    if worth(question.owned):
        _tell_sold(question, answer, seeker)
    if answer.gap is None:
        for text in words.instead_texts(seeker, answer):
            tell(text)
        tell(words.counts_text(answer))
    tell(f"\n{tr('Why not the others')}")
    for rival in rivals(seeker, answer):
        tell(f"  {words.rival_text(rival, answer, seeker.catalog)}")
    for line in words.hire_texts(hired(question, seeker.catalog, shipped_cloud()), answer.best):
        tell(f"  {line}")
    tell(f"\n{tr('Not in the search')}")
    for line in (*words.left_out_texts(answer), words.outside_text()):
        tell(f"  {line}")


def _tell_sold(question: Question, answer: Answer, seeker: Seeker) -> None:
    assert answer.best is not None
    spent = money(answer.best.price - worth(question.owned), question.currency)
    tell(tr("To pay after selling what is left over: {amount}.", amount=spent))
    for part_id, many, brings in sold(question.owned, answer.best):
        part = seeker.catalog.get(part_id)
        amount = money(brings, question.currency)
        name = part.name if part else part_id
        tell("  " + tr("Sell {count} × {name}: {amount}.", count=many, name=name, amount=amount))


def _asked(part_id: str, seeker: Seeker) -> dict[str, Any]:
    """The interval of a piece's price, and the price that somebody asked, where it is carried to
    today or converted."""
    part = seeker.catalog.get(part_id)
    offer = seeker.market.offer(part) if part is not None else None
    if offer is None:
        return {"low": None, "high": None, "asked": None}
    plain = offer.price is offer.asked and offer.asked.currency == seeker.market.currency
    asked = {"amount": offer.asked.amount, "currency": offer.asked.currency}
    return {"low": offer.low, "high": offer.high, "asked": None if plain else asked}


def json_text(answer: Answer, seeker: Seeker) -> str:
    """Return an answer as JSON."""
    return msgspec.json.encode(_plain(answer, seeker)).decode()


def _plain(answer: Answer, seeker: Seeker) -> dict[str, Any]:
    best = answer.best
    made: dict[str, Any] = {
        "objective": answer.question.objective,
        "budget": answer.question.budget,
        "currency": answer.question.currency,
        "rigs": answer.total,
        "examined": answer.examined,
        "proven": answer.gap is None,
        "gap": answer.gap if answer.gap not in (None, float("inf")) else None,
        "left_out": answer.left_out,
        "excluded": answer.counts,
        "strictness": answer.strictness,
        "best": None,
    }
    if best is not None:
        made["best"] = {
            "price": best.price,
            "watts": best.watts,
            "tight": best.score.tight,
            "speeds": [
                {"metric": s.metric, "value": s.value, "low": s.low, "high": s.high}
                for s in best.score.speeds
            ],
            "items": [
                {
                    "part": item.part,
                    "quantity": item.quantity,
                    "price": item.price.amount if item.price else None,
                    "currency": item.price.currency if item.price else None,
                    "day": item.price.day if item.price else None,
                    "condition": item.price.condition if item.price else None,
                    **_asked(item.part, seeker),
                    "power_cap_w": item.power_cap_w,
                }
                for item in best.rig.items
            ],
        }
    return made
