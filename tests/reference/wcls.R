# Reference values for smdp.evaluation.trial_effects: weighted and centred least squares in base R.
# Run in this folder with `Rscript wcls.R`; it writes wcls.json.
#
# Inputs are rounded to 4 decimals, so that the text holds them exactly. The estimate is lm's; the
# errors are computed by hand: the sandwich by subject, with the residuals of each subject divided by
# I - H_ii (Mancl & DeRouen 2001), H being the weighted hat matrix. Controls and moderators are
# centred, and the numerator of the weights is the mean probability of each action.

numbers <- function(x) paste0("[", paste(sprintf("%.17g", x), collapse = ", "), "]")
field <- function(name, x) paste0('"', name, '": ', numbers(x))

wcls <- function(d, probability, controls, moderators) {
  used <- unique(c(controls, moderators))
  centred <- scale(as.matrix(d[, used, drop = FALSE]), scale = FALSE)
  modified <- cbind(1, centred[, moderators, drop = FALSE])
  marginal <- colMeans(probability)
  effects <- NULL
  for (k in 2:ncol(probability)) {
    effects <- cbind(effects, ((d$action == k - 1) - marginal[k]) * modified)
  }
  design <- cbind(1, centred, effects)
  weight <- marginal[d$action + 1] / probability[cbind(seq_len(nrow(d)), d$action + 1)]
  fit <- lm(d$utility ~ design - 1, weights = weight)
  residual <- residuals(fit)
  bread <- solve(t(design) %*% (weight * design))
  meat <- matrix(0, ncol(design), ncol(design))
  for (i in unique(d$subject)) {
    rows <- which(d$subject == i)
    x <- design[rows, , drop = FALSE]
    hat <- x %*% bread %*% t(x * weight[rows])
    adjusted <- solve(diag(length(rows)) - hat, residual[rows])
    score <- t(x * weight[rows]) %*% adjusted
    meat <- meat + score %*% t(score)
  }
  error <- sqrt(diag(bread %*% meat %*% bread))
  kept <- (2 + length(used)):ncol(design)
  estimate <- unname(coef(fit)[kept])
  freedom <- length(unique(d$subject)) - ncol(design)
  list(estimate = estimate, error = unname(error[kept]),
       p_value = 2 * pt(-abs(estimate / unname(error[kept])), freedom))
}

simulated <- function(subjects, times, actions) {
  n <- subjects * times
  d <- data.frame(subject = rep(seq_len(subjects), each = times), time = rep(seq_len(times), subjects))
  d$x <- round(rnorm(n), 4)
  d$z <- round(rnorm(n) + rep(rnorm(subjects), each = times), 4)
  strength <- exp(cbind(0, outer(d$x, seq_len(actions - 1) / 3)))
  probability <- round(strength / rowSums(strength), 4)
  probability[, 1] <- round(1 - rowSums(probability[, -1, drop = FALSE]), 4)
  d$action <- apply(probability, 1, function(p) sample(actions, 1, prob = p)) - 1
  own <- rep(rnorm(subjects), each = times)
  d$utility <- round(d$x - 0.5 * d$z + d$action * (0.4 + 0.3 * d$z) + own + rnorm(n), 4)
  list(d = d, probability = probability)
}

cases <- NULL
add <- function(name, subjects, times, actions, controls, moderators) {
  s <- simulated(subjects, times, actions)
  found <- wcls(s$d, s$probability, controls, moderators)
  quoted <- function(v) paste0("[", paste(sprintf('"%s"', v), collapse = ", "), "]")
  if (length(controls) == 0) quoted_controls <- "[]" else quoted_controls <- quoted(controls)
  if (length(moderators) == 0) quoted_moderators <- "[]" else quoted_moderators <- quoted(moderators)
  cases <<- c(cases, paste0(
    '{"name": "', name, '", "subjects": ', subjects, ', "times": ', times, ', "actions": ', actions,
    ',\n "controls": ', quoted_controls, ', "moderators": ', quoted_moderators,
    ',\n ', field("estimate", found$estimate), ',\n ', field("error", found$error),
    ',\n ', field("p_value", found$p_value),
    ',\n ', field("x", s$d$x), ',\n ', field("z", s$d$z), ',\n ', field("action", s$d$action),
    ',\n ', field("utility", s$d$utility), ',\n ', field("probability", t(s$probability)), "}"))
}

set.seed(20180501)
add("two actions", 12, 8, 2, character(0), character(0))
add("a control and a moderator", 12, 8, 2, "x", "z")
add("three actions", 15, 10, 3, c("x", "z"), "z")
writeLines(c("[", paste(cases, collapse = ",\n"), "]"), "wcls.json")
