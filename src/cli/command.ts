import type { parseArgs } from 'node:util'
import type { Client } from '../client/index.ts'

/** The environment of a command: standard streams, variables and the person at the terminal. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Writes a line of the result to standard output. */
  result(line: string): void
  /** Writes a document exactly as it is, such as a configuration file; on a terminal, like `result`. */
  document(text: string): void
  /** Writes a message for people to standard error. */
  say(line: string): void
  /** Shows progress until the next line or `null`. Shows nothing unless standard error is a terminal. */
  progress(text: string | null): void
  /** Whether standard output is a terminal, and whether to use colours. */
  readonly isPerson: boolean
  readonly hasColours: boolean
  /** Asks for a line; null if the command is not interactive. @param isSecret hides the input. */
  ask(question: string, isSecret?: boolean): Promise<string | null>
  /** Opens a text in the person's editor and returns the result. @throws Failure if there is no editor, or it fails. */
  edit(text: string): Promise<string>
  readonly now: () => Date
  /** Aborts on Ctrl-C. */
  readonly signal: AbortSignal
}

/** The service that a command talks to. */
export interface Service {
  readonly url: string
  readonly key: string | undefined
  readonly client: Client
}

/** The options of a command, in the form of Node's `parseArgs`. */
export type Options = NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>

/** The arguments of a command. */
export interface Input {
  readonly words: readonly string[]
  readonly options: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>
  /** Whether to print results as JSON. */
  readonly json: boolean
}

/** A command of `allclear`. */
export interface Command {
  /** The arguments after the name, such as `TARGET…`. */
  readonly usage: string
  /** One line, for the list of commands. */
  readonly summary: string
  /** More text for its help. */
  readonly details?: string
  /** Example lines for its help. */
  readonly examples: readonly string[]
  /** The meaning of its exit codes, except 1 for failures. */
  readonly exitCodes: Readonly<Record<number, string>>
  readonly options?: Options
  /** The description of each option, by name. */
  readonly describe?: Readonly<Record<string, string>>
  /** The words that may follow, for completion. */
  readonly words?: readonly string[]
  /** The values of options with a fixed set of them, by name, for completion. */
  readonly values?: Readonly<Record<string, readonly string[]>>
  /** @returns the exit code. */
  run(input: Input, terminal: Terminal, service: () => Promise<Service>): Promise<number>
}

/** A failure that is printed as its message only. The exit code is 1. */
export class Failure extends Error {}

/** Exit codes. */
export const EXIT = {
  ok: 0,
  failed: 1,
  /** A target, page or monitor has a problem: listed, affected, down. */
  bad: 2,
  /** The result is incomplete. */
  unknown: 3,
} as const

/** Returns the text of an option, or undefined if it is absent. */
export function textOf({ options }: Input, name: string): string | undefined {
  const value = options[name]
  return typeof value === 'string' ? value : undefined
}

/** Returns all texts of a repeatable option. */
export function textsOf({ options }: Input, name: string): string[] {
  const value = options[name]
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}
