if inEpoch() and epoch == ARGV[2] and not isPending() and not isClosed() then begin() end
return { epoch }
