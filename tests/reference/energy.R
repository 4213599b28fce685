# Reference values for smdp.independence.distance_covariance: R's energy::dcov.test.
# Run in this folder with `Rscript energy.R`; it writes energy.json.
#
# Inputs are rounded to 4 decimals, so that the text holds them exactly. `statistic` is energy's
# nV^2 = n dCov^2; `p_value` is its permutation p-value with `replicates` replicates.

library(energy)

numbers <- function(x) paste0("[", paste(sprintf("%.17g", x), collapse = ", "), "]")
rows <- function(m) paste0("[", paste(apply(m, 1, numbers), collapse = ",\n  "), "]")
as_json <- function(s) paste0(
  '{"name": "', s$name, '", "replicates": ', s$replicates,
  ', "statistic": ', sprintf("%.17g", s$statistic), ', "p_value": ', sprintf("%.17g", s$p_value),
  ',\n "x": ', rows(s$x), ',\n "y": ', rows(s$y), "}")

cases <- list()
add <- function(name, x, y, replicates) {
  x <- round(as.matrix(x), 4)
  y <- round(as.matrix(y), 4)
  test <- dcov.test(x, y, R = replicates)
  cases[[length(cases) + 1]] <<- list(
    name = name, x = x, y = y, replicates = replicates,
    statistic = as.numeric(test$statistic), p_value = test$p.value)
}
normal <- function(n, d) matrix(rnorm(n * d), n, d)

set.seed(20240503)
for (n in c(8, 12, 20, 30, 50, 100, 200)) {
  replicates <- if (n <= 50) 19999 else 4999
  add(paste("independent, n =", n), normal(n, 1), normal(n, 1), replicates)
  x <- normal(n, 1)
  add(paste("quadratic, n =", n), x, x^2 + 2 * normal(n, 1), replicates)
  x <- normal(n, 2)
  add(paste("2 x 3 dimensions, n =", n), x, cbind(x[, 1] + 3 * normal(n, 1), normal(n, 2)), replicates)
}
for (n in c(15, 40)) {
  add(paste("1 x 21 dimensions, n =", n), normal(n, 1), normal(n, 21), 19999)
  add(paste("5 x 1 dimensions, n =", n), normal(n, 5), normal(n, 1), 19999)
  add(paste("heavy tails, n =", n), rt(n, 1.5), rt(n, 1.5), 19999)
}
x <- rnorm(25)
add("large offset", 1e4 + x, -1e4 + x + 2 * rnorm(25), 19999)
add("units that differ by 1e6", cbind(rnorm(60), 1e6 * rnorm(60)), cbind(rnorm(60), 1e-2 * rnorm(60)), 4999)
add("binary x", rbinom(30, 1, 0.3), rnorm(30), 19999)

writeLines(c("[", paste(vapply(cases, as_json, ""), collapse = ",\n"), "]"), "energy.json")
