#!/usr/bin/env node
/** The program of the published package. Loads only the code that a command needs, because the service is large. */
const [command, ...rest] = process.argv.slice(2)

if (command === undefined || (command === 'serve' && rest.length === 0)) {
  const { restartWithMemorySettings } = await import('./core/process/memory-settings.ts')
  const { endAs, endWithFirstProcess, endWithShell } = await import('./core/process/second-process.ts')
  const second = restartWithMemorySettings()
  if (!process.channel) endWithShell(process.env['npm_lifecycle_event'])
  if (second) endAs(second)
  else {
    endWithFirstProcess()
    // Not a literal, which would put the service into this file's bundle.
    const service: string = './main.js'
    await import(service)
  }
} else if (command === 'health' && rest.length === 0) {
  const { checkHealth } = await import('./cli/health.ts')
  process.exitCode = await checkHealth(process.env['PORT'])
} else {
  // Not a literal either: the commands take longer to load than all the rest of a start's first process.
  const commandLine: string = './cli/command-line.js'
  const { runCommandLine }: typeof import('./cli/command-line.ts') = await import(commandLine)
  process.exitCode = await runCommandLine([command, ...rest], process.env, () => new Date())
}
