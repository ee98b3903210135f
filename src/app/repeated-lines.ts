import { errorIdStart } from '../core/error-id.ts'
import { isJsonObject } from '../core/json-object.ts'
import type { Clock } from '../core/time.ts'

/** The number of lines of one kind that are written per minute; further ones are counted. */
const MAX_PER_MINUTE = 10
/** The maximum number of kinds that are counted: kinds are places of the program, so there are fewer. */
const MAX_KINDS = 1000

/** Writes log lines; counts those that repeat. */
export interface RepeatedLines {
  write(line: string): void
  /** Writes how often each kind was left out since the last call. Call it once a minute. */
  report(): void
}

interface Kind {
  readonly level: number
  readonly msg: string
  /** How the ids of its errors begin, such as `3f0c9a…`; absent: it has none. */
  readonly errorIds?: string
  written: number
  leftOut: number
}

/**
 * Limits how often lines of one kind are written, so that a stranger who causes errors does not fill the disk. Lines
 * are of one kind if they have the same level, the same message apart from numbers, and an error from the same place.
 * Lines of level `debug` and below always pass.
 * @param write writes a line.
 */
export function createRepeatedLines(write: (line: string) => void, now: Clock): RepeatedLines {
  const kinds = new Map<string, Kind>()

  return {
    write(line) {
      const content = isCounted(line) ? contentOf(line) : null
      if (content === null) return write(line)
      const key = kindOf(content)
      const kind = kinds.get(key) ?? newKind(content)
      if (kind.written === 0 && kinds.size < MAX_KINDS) kinds.set(key, kind)
      if (kind.written >= MAX_PER_MINUTE) kind.leftOut += 1
      else {
        kind.written += 1
        write(line)
      }
    },
    report() {
      for (const { level, msg, errorIds, leftOut } of kinds.values()) {
        if (leftOut === 0) continue
        const time = now().toISOString()
        write(
          `${JSON.stringify({ level, time, repeated: leftOut, errorIds, msg: `${leftOut} more of these: ${msg}` })}\n`,
        )
      }
      kinds.clear()
    },
  }
}

const INFO = 30

/** Every line begins with its level. */
function isCounted(line: string): boolean {
  return Number(/^\{"level":(\d+)/.exec(line)?.[1] ?? INFO) >= INFO
}

interface Content {
  readonly level: number
  readonly msg: string
  readonly err: Readonly<Record<string, unknown>>
  readonly errorId: unknown
}

function contentOf(line: string): Content | null {
  const { level, msg, err, errorId }: Record<string, unknown> = JSON.parse(line)
  if (typeof level !== 'number') return null
  return { level, msg: String(msg ?? ''), err: isJsonObject(err) ? err : {}, errorId }
}

function newKind({ level, msg, errorId }: Content): Kind {
  const ids = typeof errorId === 'string' ? { errorIds: `${errorIdStart(errorId)}…` } : {}
  return { level, msg, ...ids, written: 0, leftOut: 0 }
}

function kindOf({ level, msg, err }: Content): string {
  const [place = ''] = String(err['stack'] ?? '').split('\n', 1)
  return JSON.stringify([level, msg.replace(/\d+/g, '0'), err['type'], err['code'], place])
}
