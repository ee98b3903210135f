import type { parseArgs } from 'node:util'
import type { Client } from '../client/index.ts'

/** What a command reads and writes: standard streams, the environment, and who watches. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Writes a line of the result to standard output. */
  result(line: string): void
  /** Writes a line for people to standard error. */
  say(line: string): void
  /** Whether people read standard output, and whether in colours. */
  readonly isPerson: boolean
  readonly hasColours: boolean
  /** Asks a person for a line; null: nobody can be asked. `isSecret`: without showing what is typed. */
  ask(question: string, isSecret?: boolean): Promise<string | null>
  /** Has a person edit a text in their editor. @throws Failure when there is no editor, or it fails. */
  edit(text: string): Promise<string>
  readonly now: () => Date
  /** Aborts on Ctrl-C. */
  readonly signal: AbortSignal
}

/** A service to talk to. */
export interface Service {
  readonly url: string
  readonly key: string | undefined
  readonly client: Client
}

/** The options that a command takes, as `parseArgs` of Node.js describes them. */
type Options = NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>

/** What was typed after the command. */
export interface Input {
  readonly words: readonly string[]
  readonly options: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>
  /** Whether results are JSON. */
  readonly json: boolean
}

/** A command of `allclear`. */
export interface Command {
  /** Its words after the name, such as `TARGET…`. */
  readonly usage: string
  /** One line, for the list of commands. */
  readonly summary: string
  /** What its help says beside the options. */
  readonly details?: string
  readonly options?: Options
  /** Describes each option, by name. */
  readonly describe?: Readonly<Record<string, string>>
  /** Words that may follow, for completion. */
  readonly words?: readonly string[]
  /** @returns the exit code. */
  run(input: Input, terminal: Terminal, service: () => Promise<Service>): Promise<number>
}

/** A failure that needs no more than its message; the exit code is 1. */
export class Failure extends Error {}

/** The codes with which commands exit. */
export const EXIT = {
  ok: 0,
  failed: 1,
  /** What was asked about is not well: listed, affected, down. */
  bad: 2,
  /** It is not known whether it is. */
  unknown: 3,
} as const

/** Returns the text of an option; undefined when it is absent. */
export function textOf({ options }: Input, name: string): string | undefined {
  const value = options[name]
  return typeof value === 'string' ? value : undefined
}

/** Returns all texts of an option that may be repeated. */
export function textsOf({ options }: Input, name: string): string[] {
  const value = options[name]
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}
