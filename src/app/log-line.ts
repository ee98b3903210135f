import { isJsonObject } from '../core/json-object.ts'
import { truncate } from '../core/truncate.ts'

/** The maximum length of a line, in bytes: what is longer is rarely read, and a stranger may cause thousands. */
const MAX_LINE_BYTES = 2048
/** The lengths to which texts are shortened, one after the other, until the line is short enough. */
const TEXT_LENGTHS = [1500, 400, 150, 40] as const
/** The length of the message when nothing else fits: an escaped character has up to 14 bytes. */
const LAST_LENGTH = 100
/** The number of items and members that are kept. */
const MAX_ITEMS = 10
const MAX_DEPTH = 4

const MAX_MESSAGE_LENGTH = 400
const MAX_FRAMES = 8
const MAX_FRAME_LENGTH = 160

/** An error as it is logged. */
interface LoggedError {
  readonly type: string
  readonly code?: string
  readonly message: string
  /** Where it was thrown, innermost call first. */
  readonly stack?: string
  readonly cause?: LoggedError
}

/**
 * Returns what is logged of an error: its type, code, message, calls and cause. Other members, such as the values of a
 * statement, would repeat what callers sent.
 */
export function loggedError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return error
  const { code, cause } = error as { code?: unknown; cause?: unknown }
  const stack = framesOf(error)
  return {
    type: error.constructor.name,
    ...(typeof code === 'string' && { code: truncate(code, 40) }),
    message: truncate(messageOf(error), MAX_MESSAGE_LENGTH),
    ...(stack !== '' && { stack }),
    ...(cause instanceof Error && depth < 2 && { cause: loggedError(cause, depth + 1) as LoggedError }),
  } satisfies LoggedError
}

/** Returns the message of an error. Prisma’s begins with the call and the lines of the program around it. */
function messageOf({ message }: Error): string {
  const end = /^\s*Invalid `[^`]{0,100}` invocation/.test(message) ? message.lastIndexOf('\n\n') : -1
  return message.slice(end + 1).trim()
}

/** Returns the calls in the stack of an error, without its message, which comes first. */
function framesOf({ stack = '' }: Error): string {
  const frames = stack.split('\n').filter((line) => /^ {4}at /.test(line))
  return frames
    .slice(0, MAX_FRAMES)
    .map((frame) => truncate(frame.trim(), MAX_FRAME_LENGTH))
    .join('\n')
}

/**
 * Shortens a JSON line that is longer than `MAX_LINE_BYTES`, so that it stays JSON with the same members.
 * @param escaped escapes characters, which makes a line longer.
 */
export function shortLine(line: string, escaped: (line: string) => string): string {
  const whole = escaped(line)
  if (isShort(whole)) return whole
  const content = parsed(line)
  for (const length of TEXT_LENGTHS) {
    const shorter = escaped(`${JSON.stringify(shortened(content, length, 0))}\n`)
    if (isShort(shorter)) return shorter
  }
  const { level, time, msg } = content
  return escaped(`${JSON.stringify({ level, time, msg: truncate(String(msg), LAST_LENGTH) })}\n`)
}

/** A character has at most three bytes per UTF-16 unit. */
const isShort = (line: string) => line.length * 3 <= MAX_LINE_BYTES || Buffer.byteLength(line) <= MAX_LINE_BYTES

function parsed(line: string): Record<string, unknown> {
  const content: unknown = JSON.parse(line)
  return isJsonObject(content) ? content : {}
}

function shortened(value: unknown, length: number, depth: number): unknown {
  if (typeof value === 'string') return truncate(value, length)
  if (typeof value !== 'object' || value === null) return value
  if (depth === MAX_DEPTH) return '…'
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => shortened(item, length, depth + 1))
  const members = Object.entries(value).slice(0, depth === 0 ? 2 * MAX_ITEMS : MAX_ITEMS)
  return Object.fromEntries(
    members.map(([name, member]) => [truncate(name, length), shortened(member, length, depth + 1)]),
  )
}
