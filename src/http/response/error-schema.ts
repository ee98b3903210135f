import { z } from 'zod'

/** The schema of REST errors in `/openapi.json`. */
export const errorJson = z
  .object({ error: z.looseObject({ code: z.string(), message: z.string() }) })
  .meta({ id: 'Error', description: 'An error; `code` is stable.' })
