"""What the words on the pages and in reports mean, for people who know trials and no statistics."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Term:
    """A word, its meaning in a sentence or two, its symbol, and other forms of the word."""

    name: str
    meaning: str
    symbol: str = ""
    forms: tuple[str, ...] = ()
    topic: str = ""


_STUDY = (
    Term(
        "decision point",
        "A time at which a treatment is chosen for a person: every evening, say, or five times a "
        "day.",
        "t",
        ("decision points",),
    ),
    Term(
        "state",
        "What is known about a person at a decision point: the variables from which a treatment "
        "may be chosen.",
        "S",
    ),
    Term("action", "The treatment given at a decision point, no treatment included.", "A"),
    Term(
        "utility",
        "The outcome after a decision, oriented so that more is better: minus the number of "
        "cigarettes, say.",
        "U",
    ),
    Term(
        "availability",
        "Whether a treatment could be given at all at a decision point. Nobody who drives a car "
        "gets a message; such decisions are not used to compare treatments.",
    ),
    Term(
        "transition",
        "One decision with what it led to: state, action, utility and next state.",
        "",
        ("transitions",),
    ),
    Term(
        "micro-randomised trial",
        "A trial in which every person is randomised again at every decision point.",
        "",
        ("micro-randomised trials",),
    ),
    Term(
        "randomisation probability",
        "The chance with which the trial gave a treatment at a decision point. Without it, values "
        "and effects rest on an estimate of how treatment came about.",
    ),
    Term(
        "imputation",
        "Filling in a missing value with a plausible one, from the person's own values around it.",
    ),
    Term(
        "rescaling",
        "Putting variables with different units on common levels, so that none counts more only "
        "because its numbers are larger.",
    ),
)
_SCREENING = (
    Term(
        "screening",
        "A first choice of variables: those on which the utility depends, directly or through the "
        "variables that come next.",
    ),
    Term(
        "closed set",
        "Variables that, with the treatment, are all that the utility and their own next values "
        "depend on. What is outside adds nothing once they are known.",
        "",
        ("closed sets",),
    ),
    Term(
        "distance correlation",
        "How strongly two things go together, in whatever form: 0 is not at all, 1 completely. "
        "Corrected here for what chance alone would show.",
        "",
        ("distance correlations",),
    ),
    Term(
        "distance covariance",
        "A measure of dependence of any form, straight or curved. It is zero only if there is "
        "none.",
    ),
    Term(
        "permutation test",
        "How often would shuffled data show as much as the real data do? That share is the "
        "p-value.",
        "",
        ("permutation tests",),
    ),
    Term(
        "permutations",
        "How often the data are shuffled in a permutation test. More give finer p-values.",
    ),
    Term(
        "p-value",
        "How often chance alone would show at least as much, if there were nothing to find. A "
        "small one speaks against chance; a large one proves nothing.",
        "p",
        ("p-values",),
    ),
    Term(
        "false-alarm level",
        "How often a test may cry wolf. In screening by person: how often a round may keep any "
        "variable that has nothing to do with the outcome.",
        "tau",
    ),
    Term(
        "pooling",
        "How tests at single decision points become one: by a rule that holds for any dependence "
        "between them (Rüger), or by whole trajectories of people.",
    ),
)
_FEATURES = (
    Term(
        "feature",
        "A number computed from the variables, by weights that were learned. A few features stand "
        "for many variables.",
        "",
        ("features",),
    ),
    Term(
        "feature map",
        "The rule that turns a person's state into features.",
        "phi",
        ("feature maps",),
    ),
    Term(
        "sufficient",
        "Features are sufficient when, for choosing treatment now and later, nothing more in the "
        "state would help. A test can speak against it; it cannot prove it.",
    ),
    Term("dimension", "The number of features.", "q", ("dimensions",)),
    Term(
        "alternating deep neural network",
        "The method's network: one shared feature map, and for each treatment a head that "
        "predicts what comes next from the features.",
        "ADNN",
        ("ADNN",),
    ),
    Term(
        "interpretable",
        "A feature map with one layer: each feature is a weighted sum of variables, bent once, so "
        "that its weights can be read.",
    ),
    Term(
        "penalty",
        "What a variable must earn to be used. A higher penalty keeps fewer variables.",
        "lambda",
        ("penalties",),
    ),
    Term(
        "cross-validation",
        "Learning on some people and judging on the others, in turn. Settings are chosen so.",
    ),
    Term("fold", "One of the groups of people in cross-validation.", "", ("folds",)),
    Term(
        "out of fold",
        "Predicted for people who were not among those that the network learned from.",
    ),
    Term(
        "closed features",
        "Features that, with the treatment, say all that the state says of the utility and of "
        "their own next values. What else the state may say of its variables, they may leave out.",
    ),
    Term(
        "exactly sufficient",
        "Nothing is lost with these features. A test can reject that. With many people it finds "
        "every loss, however small.",
        "",
        ("exact test", "exact tests"),
    ),
    Term(
        "practically sufficient",
        "What is lost with these features is negligible: a bound over people leaves less than 5 %, "
        "say, of what the state says of the outcome. What this means for a decision is another "
        "question: see cost of a decision.",
        "",
        ("enough in practice",),
    ),
    Term(
        "normal-space test",
        "The exact test: are more features needed to say what the state says, on average, of what "
        "comes next? What a poorly trained network can be the reason for is taken out of its "
        "errors; does the rest go with the state?",
    ),
    Term(
        "explained share",
        "How much smaller squared errors are with a prediction than without: 0 % is no better than "
        "each treatment's mean, 100 % has no errors. Out of fold it can be below 0.",
        "",
        ("variance explained",),
    ),
    Term(
        "share kept",
        "The features' explained share of the outcome, divided by that of the full state. It can "
        "exceed 100 %, where a network that has the full state predicts worse than the map.",
    ),
    Term(
        "cost of a decision",
        "What is lost of the outcome, now and later, if one decision is made by the features "
        "instead of all variables and everything afterwards by all variables. For people whom "
        "neither policy was learned from. Below 0, the policy of all variables overfits.",
        "",
        ("cost a decision",),
    ),
    Term(
        "absolute test",
        "The paper's test: do the errors of prediction depend on the state at all?",
    ),
    Term(
        "relative test",
        "In results of earlier versions: is there anything in the state that predicts what the "
        "features miss, and is the error clearly larger than with the full state?",
    ),
    Term(
        "weight",
        "How much a feature changes with a variable. The sign is the direction, the size the "
        "strength.",
        "W",
        ("weights",),
    ),
    Term(
        "stability",
        "How often the same variables and dimension come out when the people are drawn anew "
        "(bootstrap).",
    ),
    Term(
        "bootstrap",
        "Drawing people from the study with replacement, many times, to see how much a result "
        "depends on who took part.",
        "",
        ("bootstraps",),
    ),
    Term(
        "principal components",
        "Weighted sums of variables that vary most. They ignore the outcome.",
        "PCA",
        ("PCA",),
    ),
    Term(
        "separate networks",
        "One sparse network for each treatment, their features side by side: a comparison in the "
        "paper.",
        "tNN",
        ("tNN",),
    ),
)
_MARKOV = (
    Term(
        "Markov",
        "A process is Markov in a state if the present state and treatment say all about what "
        "comes next that the past could tell. Policies are learned as if it were so.",
    ),
    Term(
        "look-back",
        "How many earlier decisions are known beside the present state: their states and "
        "treatments are then part of the state. 0 is the present alone.",
        "m",
        ("look-backs",),
    ),
    Term(
        "own level",
        "What is usual for a person and not said by the state: some always smoke more. A person's "
        "past tells it, so that the past can matter although nothing of it lasts.",
        "",
        ("own levels",),
    ),
    Term(
        "stationarity",
        "That a process is the same throughout the study: in the same state, the same treatment "
        "leads to the same, early and late.",
        "",
        ("stationary",),
    ),
)
_POLICY = (
    Term(
        "policy",
        "A rule that names a treatment for every state.",
        "pi",
        ("policies",),
    ),
    Term(
        "Q-function",
        "What a treatment is worth in a state: the utility to come if it is given now and the "
        "best ones later.",
        "Q",
        ("Q-functions",),
    ),
    Term(
        "discount",
        "How much a later decision counts against the present one. At 0 only the next utility "
        "matters; at 0.9 a decision ten steps ahead still counts a third.",
        "gamma",
    ),
    Term(
        "margin",
        "By how much the recommended treatment is better than the next one, with its uncertainty.",
    ),
    Term(
        "abstain",
        "To give no recommendation, because the data do not tell the treatments apart, or because "
        "nobody like this person was in the study.",
        "",
        ("abstains",),
    ),
    Term(
        "pessimistic",
        "Of a policy: it leaves treatment as usual where another one is not clearly better, by so "
        "many standard errors of the difference.",
    ),
    Term(
        "value",
        "What people would earn on average if a policy chose their treatments.",
        "V",
    ),
    Term(
        "doubly robust",
        "An estimate that is right if either the model of outcomes or that of treatment is right.",
    ),
    Term(
        "effective sample size",
        "How many decisions the estimate really rests on, after weighting those that agree with "
        "the policy.",
    ),
    Term(
        "positivity",
        "Every treatment must have had a chance in every kind of state; where it had none, "
        "nothing can be said of it.",
    ),
    Term(
        "placebo check",
        "The whole analysis again with shuffled treatments: a gain that appears there too is not "
        "real.",
    ),
    Term(
        "holds so far",
        "Of a thing that conclusions rest on: nothing was found against it, or it is good enough "
        "in practice. It is not proven.",
    ),
    Term(
        "planted fault",
        "Something wrong that is built into a simulated study on purpose, to see how often a check "
        "finds it.",
        "",
        ("planted faults",),
    ),
    Term(
        "excursion effect",
        "The average effect of treating now rather than not, over the states that people were in "
        "(weighted and centred least squares).",
        "",
        ("trial effect",),
    ),
    Term(
        "Shapley value",
        "The share of a recommendation that is due to one variable, fairly divided among all.",
        "",
        ("Shapley values",),
    ),
)
_REPEATING = (
    Term(
        "95 % interval",
        "A range that would cover the truth in 95 of 100 studies like this one.",
        "",
        ("95 % intervals",),
    ),
    Term(
        "standard error",
        "How much an estimate would vary from study to study.",
        "SE",
        ("standard errors",),
    ),
    Term(
        "seed",
        "The number from which all randomness starts. The same data, settings and seed give the "
        "same result.",
    ),
    Term(
        "fingerprint",
        "A short code computed from a table. If one cell changes, so does the code.",
    ),
    Term(
        "plan",
        "All settings of an analysis in one file. Run on the same table it gives the same numbers.",
    ),
)

TERMS: tuple[Term, ...] = tuple(
    replace(term, topic=topic)
    for topic, terms in (
        ("The study", _STUDY),
        ("Screening", _SCREENING),
        ("Features", _FEATURES),
        ("Markov check", _MARKOV),
        ("Policies", _POLICY),
        ("Repeating it", _REPEATING),
    )
    for term in terms
)


def matching(words: str) -> list[Term]:
    """The terms in whose name, symbol or meaning all the words occur."""
    wanted = words.lower().split()

    def text(term: Term) -> str:
        return " ".join((term.name, term.symbol, *term.forms, term.meaning)).lower()

    return [term for term in TERMS if all(word in text(term) for word in wanted)]
