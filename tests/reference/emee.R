# Reference values for smdp.evaluation.centred_effects: log ratios of yes/no outcomes and of counts
# (EMEE: Qian, Yoo, Klasnja, Almirall & Murphy 2021) and differences with any numerator, in base R.
# Run in this folder with `Rscript emee.R`; it writes emee.json.
#
# Inputs are rounded to 4 decimals, so that the text holds them exactly. The equations are written
# row by row as they are printed, nothing is centred at means, and errors are computed from the full
# matrices H_ii of each subject (Mancl & DeRouen 2001). Where another way to the same answer is
# known (means, glm, geepack if it is installed, numerical derivatives), the script stops if the two
# disagree.

numbers <- function(x, digits) {
  paste0("[", paste(sprintf(paste0("%.", digits, "g"), x), collapse = ", "), "]")
}
field <- function(name, x, digits = 17) paste0('"', name, '": ', numbers(x, digits))
input <- function(name, x) field(name, x, digits = 10)
quoted <- function(v) {
  if (length(v) == 0) "[]" else paste0("[", paste(sprintf('"%s"', v), collapse = ", "), "]")
}

agree <- function(what, found, expected, tolerance = 1e-7) {
  found <- as.numeric(found)
  expected <- as.numeric(expected)
  if (any(abs(found - expected) > tolerance * pmax(1, abs(expected)))) stop(what, " disagree")
}

numerator_of <- function(numerator, probability) {
  others <- ncol(probability) - 1
  if (identical(numerator, "own")) return(probability)
  constant <- c(1 - others * as.numeric(numerator), rep(numerator, others))
  if (is.null(numerator)) constant <- colMeans(probability)
  matrix(constant, nrow(probability), ncol(probability), byrow = TRUE)
}

# What of the model depends on the coefficients, row by row: the residual r (R), its derivative P
# (R, d), the score D (R, d), and the derivative M (d, d) of the sum of D r.
linear_model <- function(theta, y, g, given, centred, weight) {
  x <- cbind(g, centred)
  residual <- as.numeric(y - x %*% theta)
  list(residual = residual, slope = -x, score = weight * x, bread = -t(x) %*% (weight * x))
}

ratio_model <- function(theta, y, g, given, centred, weight) {
  x <- cbind(g, given)
  beta <- theta[-seq_len(ncol(g))]
  mu <- as.numeric(exp(x %*% theta))
  shrink <- as.numeric(exp(-given %*% beta))
  instrument <- cbind(g, centred)
  score <- weight * shrink * instrument
  shrink_slope <- -shrink * cbind(0 * g, given)
  # The product rule: D changes with the coefficients as well as r.
  bread <- t(weight * instrument) %*% (shrink_slope * (y - mu)) - t(score) %*% (mu * x)
  list(residual = y - mu, slope = -mu * x, score = score, bread = bread)
}

always_centred_model <- function(theta, y, g, given, centred, weight) {
  beta <- theta[-seq_len(ncol(g))]
  blipped <- as.numeric(y * exp(-centred %*% beta))
  base <- as.numeric(exp(g %*% theta[seq_len(ncol(g))]))
  instrument <- cbind(g, centred)
  slope <- cbind(-base * g, -blipped * centred)
  list(residual = blipped - base, slope = slope, score = weight * instrument,
       bread = t(weight * instrument) %*% slope)
}

equation <- function(m) as.numeric(t(m$score) %*% m$residual)

newton <- function(model, start, y, g, given, centred, weight) {
  theta <- start
  for (step in 1:200) {
    m <- model(theta, y, g, given, centred, weight)
    move <- solve(m$bread, equation(m))
    smaller <- function(share) {
      value <- equation(model(theta - share * move, y, g, given, centred, weight))
      all(is.finite(value)) && sum(value^2) <= sum(equation(m)^2)
    }
    share <- 1
    while (share > 1e-6 && !smaller(share)) share <- share / 2
    theta <- theta - share * move
    if (max(abs(move)) < 1e-13) break
  }
  m <- model(theta, y, g, given, centred, weight)
  if (max(abs(equation(m))) > 1e-9 * length(y)) stop("no root was found")
  theta
}

check_derivatives <- function(model, theta, y, g, given, centred, weight) {
  m <- model(theta, y, g, given, centred, weight)
  for (j in seq_along(theta)) {
    step <- replace(numeric(length(theta)), j, 1e-5)
    up <- model(theta + step, y, g, given, centred, weight)
    down <- model(theta - step, y, g, given, centred, weight)
    agree("derivatives of r", m$slope[, j], (up$residual - down$residual) / 2e-5, 1e-6)
    change <- (equation(up) - equation(down)) / 2e-5
    agree("derivatives of the equations", m$bread[, j], change, 1e-6)
  }
}

sandwich <- function(m, subject, corrected) {
  inverse <- solve(m$bread)
  meat <- 0 * inverse
  for (i in unique(subject)) {
    own <- which(subject == i)
    score <- m$score[own, , drop = FALSE]
    residual <- m$residual[own]
    if (corrected) {
      hat <- m$slope[own, , drop = FALSE] %*% inverse %*% t(score)
      residual <- solve(diag(length(own)) - hat, residual)
    }
    total <- t(score) %*% residual
    meat <- meat + total %*% t(total)
  }
  inverse %*% meat %*% t(inverse)
}

# Effects at the available decisions; for each action but the first where all moderators are 0
# ("intercept"), for one unit more of each moderator, and at their means ("average").
effects <- function(d, probability, kind, numerator, controls, moderators) {
  open <- d$available == 1
  d <- d[open, ]
  probability <- probability[open, , drop = FALSE]
  used <- unique(c(controls, moderators))
  g <- cbind(1, as.matrix(d[, used, drop = FALSE]))
  f <- cbind(1, as.matrix(d[, moderators, drop = FALSE]))
  counted <- numerator_of(numerator, probability)
  rows <- cbind(seq_len(nrow(d)), d$action + 1)
  weight <- counted[rows] / probability[rows]
  others <- seq_len(ncol(probability) - 1)
  given <- do.call(cbind, lapply(others, function(k) (d$action == k) * f))
  centred <- do.call(cbind, lapply(others, function(k) ((d$action == k) - counted[, k + 1]) * f))
  y <- d$utility
  own <- identical(numerator, "own")
  ratio <- if (own) always_centred_model else ratio_model
  model <- if (kind == "continuous") linear_model else ratio
  if (kind == "continuous") {
    theta <- unname(coef(lm(y ~ cbind(g, centred) - 1, weights = weight)))
  } else {
    start <- unname(coef(glm(y ~ cbind(g, given) - 1, family = quasipoisson(), weights = weight)))
    theta <- newton(model, start, y, g, given, centred, weight)
  }
  check_derivatives(model, theta, y, g, given, centred, weight)
  m <- model(theta, y, g, given, centred, weight)
  if (max(abs(equation(m))) > 1e-8 * length(y)) stop("the equations are not solved")
  covariance <- sandwich(m, d$subject, corrected = TRUE)
  plain <- sandwich(m, d$subject, corrected = FALSE)
  freedom <- length(unique(d$subject)) - length(theta)
  terms <- c("intercept", moderators, "average")
  points <- rbind(diag(ncol(f)), colMeans(f))
  combine <- NULL
  for (k in others) {
    place <- ncol(g) + (k - 1) * ncol(f) + seq_len(ncol(f))
    wide <- matrix(0, nrow(points), length(theta))
    wide[, place] <- points
    combine <- rbind(combine, wide)
  }
  estimate <- as.numeric(combine %*% theta)
  error <- sqrt(diag(combine %*% covariance %*% t(combine)))
  width <- qt(0.975, freedom) * error
  list(action = rep(others, each = length(terms)), term = rep(terms, length(others)),
       estimate = estimate, error = error, lower = estimate - width, upper = estimate + width,
       p_value = 2 * pt(-abs(estimate / error), freedom), freedom = freedom,
       theta = theta, plain_error = sqrt(diag(plain)), y = y, g = g, given = given,
       centred = centred, weight = weight, taken = d$action, subject = d$subject)
}

# With a constant probability and no controls, the log ratio is that of the actions' means, and the
# equations are those of any log-linear regression, whose uncorrected errors geepack has.
check_against_means <- function(found) {
  means <- tapply(found$y, found$taken, mean)
  expected <- log(means[-1] / means[1])
  agree("log ratios and means", found$estimate[found$term == "intercept"], expected)
  k <- factor(found$taken)
  agree("EMEE and glm", found$estimate[found$term == "intercept"],
        coef(glm(found$y ~ k, family = quasipoisson(), control = list(epsilon = 1e-14)))[-1])
  if (requireNamespace("geepack", quietly = TRUE)) {
    d <- data.frame(y = found$y, k = k, subject = found$subject)
    gee <- geepack::geeglm(y ~ k, id = subject, data = d, family = poisson(),
                           corstr = "independence",
                           control = geepack::geese.control(epsilon = 1e-12))
    agree("EMEE and geeglm", found$estimate[found$term == "intercept"], coef(gee)[-1])
    agree("errors of EMEE and geeglm", found$plain_error[-1],
          summary(gee)$coefficients[["Std.err"]][-1], 1e-6)
  }
}

check_against_weighted_gee <- function(found) {
  if (requireNamespace("geepack", quietly = TRUE)) {
    d <- data.frame(y = found$y, subject = found$subject, weight = found$weight)
    d$x <- unname(cbind(found$g, found$centred))
    gee <- geepack::geeglm(y ~ x - 1, id = subject, data = d, weights = weight,
                           corstr = "independence")
    agree("wcls and geeglm", found$theta, coef(gee))
    agree("errors of wcls and geeglm", found$plain_error,
          summary(gee)$coefficients[["Std.err"]], 1e-6)
  }
}

simulated <- function(subjects, times, actions, kind, constant, unavailable) {
  n <- subjects * times
  d <- data.frame(subject = rep(seq_len(subjects), each = times),
                  time = rep(seq_len(times), subjects))
  d$x <- round(rnorm(n), 4)
  d$z <- round(runif(n) + rep(runif(subjects), each = times), 4)
  others <- seq_len(actions - 1)
  lean <- outer(d$x, others / 3) + outer(sin(d$time), others / 4)
  strength <- exp(cbind(0.5, if (constant) 0 * lean else lean))
  probability <- round(strength / rowSums(strength), 4)
  probability[, 1] <- round(1 - rowSums(probability[, -1, drop = FALSE]), 4)
  d$action <- apply(probability, 1, function(p) sample(actions, 1, prob = p)) - 1
  d$available <- as.numeric(runif(n) >= unavailable)
  own <- rep(rnorm(subjects), each = times)
  effect <- d$action * (0.2 + 0.15 * d$z)
  if (kind == "yes/no") {
    risk <- 0.08 + 0.25 * plogis(0.7 * d$x + own)
    d$utility <- rbinom(n, 1, pmin(risk * exp(effect), 0.95))
  } else if (kind == "count") {
    d$utility <- rpois(n, exp(0.5 + 0.3 * d$x + 0.3 * own + effect))
  } else {
    d$utility <- round(d$x - 0.5 * d$z + 2 * effect + own + rnorm(n), 4)
  }
  list(d = d, probability = probability)
}

cases <- NULL
add <- function(name, kind, subjects, times, actions, controls = character(0),
                moderators = character(0), numerator = NULL, constant = FALSE, unavailable = 0,
                like = NULL) {
  s <- if (is.null(like)) simulated(subjects, times, actions, kind, constant, unavailable) else like
  found <- effects(s$d, s$probability, kind, numerator, controls, moderators)
  if (constant && kind != "continuous") check_against_means(found)
  if (kind == "continuous") check_against_weighted_gee(found)
  told <- if (is.null(numerator)) "null" else if (is.numeric(numerator)) numerator else '"own"'
  # Without moderators the effect is the same everywhere: one term says it.
  kept <- found$term != "intercept" | length(moderators) > 0
  cases <<- c(cases, paste0(
    '{"name": "', name, '", "kind": "', kind, '", "subjects": ', subjects, ', "times": ', times,
    ', "actions": ', actions, ',\n "numerator": ', told, ', "controls": ', quoted(controls),
    ', "moderators": ', quoted(moderators), ', "freedom": ', found$freedom,
    ',\n ', field("action_of_term", found$action[kept]), ', "term": ', quoted(found$term[kept]),
    ',\n ', field("estimate", found$estimate[kept]), ',\n ', field("error", found$error[kept]),
    ',\n ', field("lower", found$lower[kept]), ',\n ', field("upper", found$upper[kept]),
    ',\n ', field("p_value", found$p_value[kept]),
    ',\n ', input("x", s$d$x), ',\n ', input("z", s$d$z), ',\n ', input("action", s$d$action),
    ',\n ', input("available", s$d$available), ',\n ', input("utility", s$d$utility),
    ',\n ', input("probability", t(s$probability)), "}"))
  invisible(s)
}

set.seed(20210901)
add("yes/no, constant probability", "yes/no", 20, 10, 2, constant = TRUE)
moderated <- add("yes/no, moderated", "yes/no", 20, 12, 2, "x", "z")
add("yes/no, numerator of .5", "yes/no", 20, 12, 2, "x", "z", numerator = 0.5, like = moderated)
add("yes/no, always centred", "yes/no", 20, 12, 2, "x", "z", numerator = "own", like = moderated)
add("yes/no, three actions", "yes/no", 24, 15, 3, "x", "z")
add("yes/no, three actions, constant probability", "yes/no", 20, 12, 3, constant = TRUE)
add("counts", "count", 15, 10, 2, c("x", "z"), "z")
add("counts, constant probability", "count", 12, 8, 2, constant = TRUE)
add("counts, three actions", "count", 18, 10, 3, "x", "z")
add("counts, three actions, always centred", "count", 18, 10, 3, "x", numerator = "own")
add("yes/no, eight subjects", "yes/no", 8, 25, 2, moderators = "z")
add("continuous, eight subjects", "continuous", 8, 12, 2, "x", "z")
add("yes/no, unavailable decisions", "yes/no", 18, 15, 2, "x", "z", unavailable = 0.3)
add("counts, unavailable decisions, three actions", "count", 18, 12, 3, "x", unavailable = 0.25)
drawn <- add("continuous, three actions, constant numerator", "continuous", 16, 10, 3,
             c("x", "z"), "z", numerator = 0.25)
add("continuous, three actions, own numerator", "continuous", 16, 10, 3, c("x", "z"), "z",
    numerator = "own", like = drawn)
halved <- add("continuous, numerator of .5", "continuous", 14, 10, 2, c("x", "z"), "z",
              numerator = 0.5)
add("continuous, numerator of the mean", "continuous", 14, 10, 2, c("x", "z"), "z", like = halved)
writeLines(c("[", paste(cases, collapse = ",\n"), "]"), "emee.json")
