-- A script of wrk: posts the bodies of a file to /graphql in turn, one on each line. Argument: the file.
local bodies = {}
local number = 0

function init(args)
  for line in io.lines(args[1]) do
    bodies[#bodies + 1] = wrk.format("POST", "/graphql", { ["Host"] = "127.0.0.1", ["Content-Type"] = "application/json" }, line)
  end
end

function request()
  number = number % #bodies + 1
  return bodies[number]
end

function done(summary)
  local errors = summary.errors
  local lost = errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format("\nRESULT %d %d %d %d\n", summary.requests, summary.duration, errors.status, lost))
end
