-- A script of wrk: requests of free callers behind a proxy. Each connection has one caller at a time, and continues
-- with the next when that one's daily checks are used up. Arguments: connections, checks a day, number of the round.
local number = -1

function init(args)
  connections, checks, round = tonumber(args[1]), tonumber(args[2]), tonumber(args[3])
end

function request()
  -- wrk calls this once before it sends anything, to see what a request is like.
  local sent = math.max(number, 0)
  number = number + 1
  local caller = math.floor(sent / (connections * checks)) * connections + sent % connections
  local address = string.format("10.%d.%d.%d", round, math.floor(caller / 256), caller % 256)
  return wrk.format(nil, nil, { ["Host"] = "127.0.0.1", ["X-Forwarded-For"] = address })
end

function done(summary)
  local errors = summary.errors
  local lost = errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format("\nRESULT %d %d %d %d\n", summary.requests, summary.duration, errors.status, lost))
end
