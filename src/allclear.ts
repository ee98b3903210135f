#!/usr/bin/env node
/** The program of the published package. Loads only the code that a command needs, because the service is large. */
const [command, ...rest] = process.argv.slice(2)

if (command === undefined || (command === 'serve' && rest.length === 0)) {
  const { setMemorySettings } = await import('./core/process/memory-settings.ts')
  setMemorySettings()
  // Not a literal, which would put the service into this file's bundle.
  const service: string = './main.js'
  await import(service)
} else if (command === 'health' && rest.length === 0) {
  const { checkHealth } = await import('./cli/health.ts')
  process.exitCode = await checkHealth(process.env['PORT'])
} else {
  const [{ runCommand }, { processTerminal }] = await Promise.all([import('./cli/run.ts'), import('./cli/terminal.ts')])
  process.exitCode = await runCommand(
    [command, ...rest],
    processTerminal(process.env, () => new Date()),
  )
}
