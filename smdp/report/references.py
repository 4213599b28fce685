"""The works that the methods text cites, as APA style prints them."""

from __future__ import annotations

from collections.abc import Iterable

REFERENCES = {
    "Arellano & Bover, 1995": "Arellano, M., & Bover, O. (1995). Another look at the instrumental "
    "variable estimation of error-components models. Journal of Econometrics, 68(1), 29–51.",
    "Arvesen, 1969": "Arvesen, J. N. (1969). Jackknifing U-statistics. The Annals of Mathematical "
    "Statistics, 40(6), 2076–2100.",
    "Bell & McCaffrey, 2002": "Bell, R. M., & McCaffrey, D. F. (2002). Bias reduction in standard "
    "errors for linear regression with multi-stage samples. Survey Methodology, 28(2), 169–181.",
    "Boruvka et al., 2018": "Boruvka, A., Almirall, D., Witkiewitz, K., & Murphy, S. A. (2018). "
    "Assessing time-varying causal effect moderation in mobile health. Journal of the American "
    "Statistical Association, 113(523), 1112–1121.",
    "Chwialkowski et al., 2014": "Chwialkowski, K. P., Sejdinovic, D., & Gretton, A. (2014). A "
    "wild bootstrap for degenerate kernel tests. Advances in Neural Information Processing "
    "Systems, 27.",
    "Cleveland et al., 1992": "Cleveland, W. S., Grosse, E., & Shyu, W. M. (1992). Local "
    "regression models. In J. M. Chambers & T. J. Hastie (Eds.), Statistical models in S "
    "(pp. 309–376). Wadsworth & Brooks/Cole.",
    "Cook, 2007": "Cook, R. D. (2007). Fisher lecture: Dimension reduction in regression. "
    "Statistical Science, 22(1), 1–26.",
    "Dudík et al., 2011": "Dudík, M., Langford, J., & Li, L. (2011). Doubly robust policy "
    "evaluation and learning. Proceedings of the 28th International Conference on Machine "
    "Learning, 1097–1104.",
    "Ernst et al., 2005": "Ernst, D., Geurts, P., & Wehenkel, L. (2005). Tree-based batch mode "
    "reinforcement learning. Journal of Machine Learning Research, 6, 503–556.",
    "Fieller, 1954": "Fieller, E. C. (1954). Some problems in interval estimation. Journal of the "
    "Royal Statistical Society: Series B, 16(2), 175–185.",
    "Jin et al., 2021": "Jin, Y., Yang, Z., & Wang, Z. (2021). Is pessimism provably efficient for "
    "offline RL? Proceedings of the 38th International Conference on Machine Learning, 5084–5096.",
    "Kallus & Uehara, 2020": "Kallus, N., & Uehara, M. (2020). Double reinforcement learning for "
    "efficient off-policy evaluation in Markov decision processes. Journal of Machine Learning "
    "Research, 21(167), 1–63.",
    "Lagoudakis & Parr, 2003": "Lagoudakis, M. G., & Parr, R. (2003). Least-squares policy "
    "iteration. Journal of Machine Learning Research, 4, 1107–1149.",
    "Liu et al., 2018": "Liu, Q., Li, L., Tang, Z., & Zhou, D. (2018). Breaking the curse of "
    "horizon: Infinite-horizon off-policy estimation. Advances in Neural Information Processing "
    "Systems, 31.",
    "Mancl & DeRouen, 2001": "Mancl, L. A., & DeRouen, T. A. (2001). A covariance estimator for "
    "GEE with improved small-sample properties. Biometrics, 57(1), 126–134.",
    "Romano & Wolf, 2005": "Romano, J. P., & Wolf, M. (2005). Exact and approximate stepdown "
    "methods for multiple hypothesis testing. Journal of the American Statistical Association, "
    "100(469), 94–108.",
    "Rüger, 1978": "Rüger, B. (1978). Das maximale Signifikanzniveau des Tests: „Lehne H0 ab, "
    "wenn k unter n gegebenen Tests zur Ablehnung führen“. Metrika, 25, 171–178.",
    "Shi et al., 2020": "Shi, C., Wan, R., Song, R., Lu, W., & Leng, L. (2020). Does the Markov "
    "decision process fit the data: Testing for the Markov property in sequential decision making. "
    "Proceedings of the 37th International Conference on Machine Learning, 8807–8817.",
    "Székely et al., 2007": "Székely, G. J., Rizzo, M. L., & Bakirov, N. K. (2007). Measuring and "
    "testing dependence by correlation of distances. The Annals of Statistics, 35(6), 2769–2794.",
    "Wang et al., 2017": "Wang, L., Laber, E. B., & Witkiewitz, K. (2017). Sufficient Markov "
    "decision processes with alternating deep neural networks. arXiv:1704.07531.",
}


def cited(paragraphs: Iterable[str]) -> tuple[str, ...]:
    """The works that the text names, in the order of their authors."""
    text = " ".join(paragraphs)
    return tuple(
        full
        for short, full in sorted(REFERENCES.items())
        if short in text or f"{short[:-6]} ({short[-4:]})" in text
    )
