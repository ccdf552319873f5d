-- Replaces `make-good` if nothing is reported and nothing refunded: defines the names that `exact-batch` refers to and
-- does not use then.

local storeMarks, readKnown, makeGood, gaveBack = false
