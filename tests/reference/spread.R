# Reference values for smdp.data.spread: one-way analysis of variance by R's aov.
# Run in this folder with `Rscript spread.R`; it writes spread.json.
#
# Inputs are rounded to 4 decimals, so that the text holds them exactly. Mean squares are those of
# aov; the number of values a person in the intraclass correlation is n_0 for unequal numbers.

numbers <- function(x) paste0("[", paste(sprintf("%.17g", x), collapse = ", "), "]")
field <- function(name, x) paste0('"', name, '": ', numbers(x))

cases <- NULL
add <- function(name, counts, between, within, around = 0, binary = FALSE) {
  person <- rep(seq_along(counts), counts)
  value <- round(around + rnorm(length(counts), sd = between)[person] +
                 rnorm(sum(counts), sd = within), 4)
  if (binary) value <- as.numeric(value > 0)
  squares <- summary(aov(value ~ factor(person)))[[1]][["Mean Sq"]]
  total <- sum(counts)
  size <- (total - sum(counts^2) / total) / (length(counts) - 1)
  cases <<- c(cases, paste0(
    '{"name": "', name, '",\n ', field("between", sd(tapply(value, person, mean))),
    ',\n ', field("within", sqrt(squares[2])),
    ',\n ', field("intraclass", (squares[1] - squares[2]) / (squares[1] + (size - 1) * squares[2])),
    ',\n ', field("person", person - 1), ',\n ', field("value", value), "}"))
}

set.seed(19860101)
add("equal numbers", rep(8, 10), 1, 1)
add("unequal numbers", c(2, 3, 9, 14, 5, 1, 30), 2, 1)
add("no difference between people", c(6, 4, 7, 5, 8), 0, 3)
add("hardly any difference within people, far from zero", c(5, 5, 4, 3), 10, 0.001, 100000)
add("two values", c(12, 9, 15, 3, 20, 11), 1, 1, binary = TRUE)
writeLines(c("[", paste(cases, collapse = ",\n"), "]"), "spread.json")
