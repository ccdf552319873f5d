-- Start of the constructor of a policy that adds cells to another policy. What it cannot do itself, the other may.

local inner = readStep()
local capacity = inner.capacity
local heldNow, heldOf, endsAt, hold, release = inner.held, inner.heldOf, inner.endsAt, inner.hold, inner.release
local pass, book, left, used
