import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { root } from './paths.ts'

/** The version of this service from package.json. */
export const packageVersion = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))).version
