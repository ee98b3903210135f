#!/usr/bin/env node
/**
 * A shell that knows only what all shells know: programs with words and double quotes, and `&&`. npm runs scripts with
 * it if it is the `script-shell`.
 */
import { spawnSync } from 'node:child_process'

const [, , , script = ''] = process.argv
for (const command of script.split(' && ')) {
  const words = Array.from(command.matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, word]) => quoted ?? word)
  const { status, error } = spawnSync(words[0], words.slice(1), { stdio: 'inherit' })
  if (error) process.stderr.write(`${error.message}\n`)
  if (status !== 0) process.exit(status ?? 1)
}
