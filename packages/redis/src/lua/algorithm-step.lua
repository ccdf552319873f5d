-- Follows an algorithm: the step that `exact-reader` creates from it.

return {
  capacity = capacity, cells = cells, layout = layout, waitMs = waitMs, spend = spend, adjust = adjust,
  remaining = remaining, resetAfterMs = resetAfterMs, numbersOf = numbersOf, adopt = adopt,
}
