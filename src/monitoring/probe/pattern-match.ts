import { RE2JS } from 're2js'
import { PatternRefused } from './pattern.ts'

/** Returns whether a text has a match. Takes linear time. Call it only in threads. @throws PatternRefused. */
export function hasMatch(pattern: string, text: string): boolean {
  return compiled(pattern).matcher(text).find()
}

function compiled(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    throw new PatternRefused(error instanceof Error ? error.message : 'unknown')
  }
}
