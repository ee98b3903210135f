import { z } from 'zod'

/** The body of an error over REST, as `/openapi.json` describes it. */
export const errorJson = z
  .object({ error: z.looseObject({ code: z.string(), message: z.string() }) })
  .meta({ id: 'Error', description: 'An error; `code` is stable.' })
