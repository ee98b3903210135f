import { bodies } from './bodies.ts'
import type { HostileCase } from './case.ts'
import { documents } from './documents.ts'
import { pages } from './pages.ts'
import { probes } from './probes.ts'

/**
 * Everything that one caller could send to harm the others. Whoever opens a new door adds what could be sent through it: a
 * line in one of these files, or a file of its own.
 */
export const corpus: readonly HostileCase[] = [...documents, ...bodies, ...pages, ...probes]
