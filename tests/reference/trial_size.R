# Reference values for smdp.simulation.trial_size: the formulas in base R.
# Run in this folder with `Rscript trial_size.R`; it writes trial_size.json.
#
# Decisions are taken one by one, days count from 0, and n is raised by one until it is enough.

curve <- function(shape, days, mean, first, turn) {
  t <- 0:(days - 1)
  if (shape == "constant") return(rep(mean, days))
  if (shape == "linear") return(seq(first, 2 * mean - first, length.out = days))
  # value = first + b t + c t^2, slope 0 at turn - 1, and this mean
  bc <- solve(rbind(c(1, 2 * (turn - 1)), c(mean(t), mean(t^2))), c(0, mean - first))
  first + bc[1] * t + bc[2] * t^2
}
order_of <- c(constant = 0, linear = 1, quadratic = 2)
basis <- function(shape, days, each) outer(rep(0:(days - 1), each = each), 0:order_of[[shape]], "^")
power_at <- function(n, ncp, p, q, level)
  pf(qf(1 - level, p, n - p - q), p, n - p - q, ncp = n * ncp, lower.tail = FALSE)
answer <- function(s, ncp, p, q) {
  n <- p + q + 1
  while (power_at(n, ncp, p, q, s$level) < s$power) n <- n + 1
  s$needed <- n
  s$at_needed <- power_at(n, ncp, p, q, s$level)
  s$at_30 <- power_at(30, ncp, p, q, s$level)
  s
}
continuous <- function(s) {
  z <- basis(s$effect_shape, s$days, s$decisions)
  d <- rep(curve(s$effect_shape, s$days, s$effect, s$effect_first, s$effect_peak), each = s$decisions)
  tau <- rep(curve(s$availability_shape, s$days, s$availability, s$availability_first,
                   s$availability_turn), each = s$decisions)
  b <- coef(lm(d ~ z - 1, weights = tau))
  answer(s, sum((z %*% b)^2 * tau * s$probability * (1 - s$probability)), ncol(z), 3)
}
yes_no <- function(s) {
  f <- basis(s$effect_shape, s$days, s$decisions)
  lr <- rep(curve(s$effect_shape, s$days, log(s$ratio), log(s$ratio_first), s$effect_peak),
            each = s$decisions)
  beta <- qr.solve(f, lr)
  tau <- rep(curve(s$availability_shape, s$days, s$availability, s$availability_first,
                   s$availability_turn), each = s$decisions)
  mu <- rep(exp(seq(log(s$baseline), log(s$baseline_last), length.out = s$days)), each = s$decisions)
  p <- s$probability
  m <- v <- 0
  for (i in seq_along(mu)) {
    ff <- f[i, ] %o% f[i, ]
    m <- m + tau[i] * exp(p * lr[i]) * mu[i] * p * (1 - p) * ff
    v <- v + tau[i] * exp(2 * p * lr[i]) * mu[i] * p * (1 - p) *
      ((1 - p) * exp(-lr[i]) + p - mu[i]) * ff
  }
  q <- max(ncol(f), if (s$baseline != s$baseline_last) 2 else 1)
  answer(s, drop(t(beta) %*% solve(solve(m) %*% v %*% t(solve(m)), beta)), ncol(f), q)
}
start <- list(days = 42L, decisions = 5L, probability = 0.4, effect_shape = "quadratic",
              effect_peak = 28L, availability_shape = "constant", availability = 0.5,
              availability_first = 0.7, availability_turn = 42L, power = 0.8, level = 0.05)
cases <- list()
for (shape in names(order_of)) for (avail in names(order_of)) for (power in c(0.8, 0.9)) {
  s <- modifyList(start, list(effect_shape = shape, availability_shape = avail, power = power))
  number <- modifyList(s, list(outcome = "continuous", effect = 0.1, effect_first = 0.02))
  cases <- c(cases, list(continuous(number)))
  last <- if (avail == "linear") 0.2 else 0.3
  choice <- modifyList(s, list(outcome = "yes/no", ratio = 1.2, ratio_first = 1.05, baseline = 0.3,
                               baseline_last = last, probability = 0.5, decisions = 1L))
  cases <- c(cases, list(yes_no(choice)))
}
value <- function(x) if (is.character(x)) paste0('"', x, '"') else
  if (is.integer(x)) format(x) else sprintf("%.15g", x)
line <- function(s) paste0("{", paste0('"', names(s), '": ', sapply(s, value), collapse = ", "), "}")
writeLines(paste0("[\n", paste(sapply(cases, line), collapse = ",\n"), "\n]"), "trial_size.json")
