-- A script of wrk: repeats one GET. Arguments: names and values of its headers, in turn.
local sent

function init(args)
  local headers = { ["Host"] = "127.0.0.1" }
  for index = 1, #args, 2 do
    headers[args[index]] = args[index + 1]
  end
  sent = wrk.format("GET", nil, headers)
end

function request()
  return sent
end

function done(summary)
  local errors = summary.errors
  local lost = errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format("\nRESULT %d %d %d %d\n", summary.requests, summary.duration, errors.status, lost))
end
