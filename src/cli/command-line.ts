import type { Terminal } from './command.ts'
import { runCommand } from './run.ts'
import { processTerminal } from './terminal.ts'

/** Runs a command of `allclear` in this process's terminal. Returns the exit code. @param now the clock. */
export function runCommandLine(args: readonly string[], env: Terminal['env'], now: () => Date): Promise<number> {
  return runCommand(args, processTerminal(env, now))
}
