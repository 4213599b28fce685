# Reference values for smdp.data.local_polynomial: R's loess with surface = "direct".
# Run in this folder with `Rscript loess.R`; it writes loess.json.
#
# `fitted` are the predictions at `at`. `of_ones` are the predictions when every value is 1: since
# loess is linear in the values, they are the sums of the smoother's weights. Where they are not 1,
# R's pseudo-inverse (or its answer 0 to an empty neighbourhood) does not even reproduce a constant.

fit <- function(time, values, at, span, degree) {
  warned <- character()
  answer <- tryCatch(
    withCallingHandlers({
      model <- loess(values ~ time, span = span, degree = degree,
                     control = loess.control(surface = "direct"))
      as.numeric(predict(model, data.frame(time = at)))
    }, warning = function(w) {
      # What the approximate degrees of freedom make of few points says nothing about the fit.
      if (!grepl("Chernobyl|NaNs produced|ihat=1", conditionMessage(w)))
        warned <<- c(warned, trimws(conditionMessage(w)))
      invokeRestart("muffleWarning")
    }),
    error = function(e) {
      warned <<- c(warned, paste("error:", conditionMessage(e)))
      rep(NA_real_, length(at))
    })
  list(fitted = answer, warnings = unique(sub(" -?[0-9.e+-]+$", "", warned)))
}

series <- list()
add <- function(name, time, values, at, span, degree) {
  main <- fit(time, values, at, span, degree)
  ones <- fit(time, rep(1, length(time)), at, span, degree)
  series[[length(series) + 1]] <<- list(
    name = name, time = time, values = values, at = at, span = span, degree = degree,
    fitted = main$fitted, of_ones = ones$fitted, warnings = main$warnings)
}

numbers <- function(x) {
  text <- ifelse(is.finite(x), sprintf("%.17g", x), "null")
  paste0("[", paste(text, collapse = ", "), "]")
}
strings <- function(x) {
  if (!length(x)) return("[]")
  paste0("[", paste0('"', x, '"', collapse = ", "), "]")
}
as_json <- function(s) paste0(
  '{"name": "', s$name, '", "span": ', sprintf("%.17g", s$span), ', "degree": ', s$degree,
  ',\n "time": ', numbers(s$time), ',\n "values": ', numbers(s$values), ',\n "at": ', numbers(s$at),
  ',\n "fitted": ', numbers(s$fitted), ',\n "of_ones": ', numbers(s$of_ones),
  ',\n "warnings": ', strings(s$warnings), "}")

set.seed(20240501)
spans <- c(0.3, 0.5, 0.75, 1, 1.2, 1.5)

# Irregular times; points observed, between, at the ends and beyond them.
for (span in spans) for (degree in 0:2) {
  time <- sort(runif(30, 0, 40))
  values <- sin(time / 5) * 3 + rnorm(30)
  at <- c(time[c(1, 2, 15, 30)], runif(8, 0, 40), min(time) - 2, max(time) + c(0.5, 5))
  add("irregular", time, values, at, span, degree)
}

# Whole decision numbers with holes, as imputation meets them; large and small units.
for (span in spans) for (degree in 0:2) {
  time <- sort(sample(0:59, 40))
  values <- round(rpois(40, 6) * 10^sample(c(-4, 0, 5), 1), 8)
  add("decisions", time, values, setdiff(0:62, time), span, degree)
}

# Ties in time, unsorted.
for (span in c(0.3, 0.6, 0.75, 1, 1.5)) for (degree in 0:2) {
  time <- sample(rep(c(1, 2, 2.5, 4, 7, 8, 11, 13), length.out = 24))
  add("ties", time, rnorm(24, 5), c(0, 1, 2.25, 2.5, 5, 7.5, 11, 13, 14), span, degree)
}

# Heavy ties: three distinct times.
for (span in c(0.5, 0.75, 1.5)) for (degree in 0:2)
  add("heavy ties", rep(c(0, 3, 10), c(4, 5, 3)), rnorm(12, 2), c(0, 1, 3, 4, 10, 12), span, degree)

# Products of n and span that fall just short of a whole number.
for (degree in 0:2) {
  time <- sort(runif(100))
  add("rounded span", time, rnorm(100), runif(5), 0.29, degree)
}

# A large offset of the times, as with dates counted in seconds.
for (degree in 0:2) {
  time <- 1.7e9 + sort(sample(0:500, 25)) * 3600
  add("seconds", time, rnorm(25), time[1] + c(-5, 100, 1000.5) * 3600, 0.75, degree)
}

# Few points.
for (n in 1:7) for (degree in 0:2) for (span in c(0.3, 0.75, 1, 1.5)) {
  time <- cumsum(c(1, 2, 1, 3, 1, 1, 4))[seq_len(n)]
  add("few", time, rnorm(n, 10), unique(c(0, time, 1.5, 2, 5, 14)), span, degree)
}

writeLines(c("[", paste(vapply(series, as_json, ""), collapse = ",\n"), "]"), "loess.json")
clean <- sum(vapply(series, function(s) !length(s$warnings), NA))
cat(length(series), "series,", clean, "without a warning,", R.version.string, "\n")
