import { z } from 'zod'

/** The parameters of the address to which a job reports, as healthchecks.io (`rid`) and Uptime Kuma (the others) have them. */
export const heartbeatQuery = z.object({
  rid: z.string().optional().meta({
    format: 'uuid',
    description: 'The UUID of the run, which tells runs that overlap apart. It ends the run that began with it.',
  }),
  status: z
    .string()
    .optional()
    .meta({
      description: 'For Uptime Kuma’s push address: empty or `up` is success, anything else failure.',
      examples: ['up', 'down'],
    }),
  ping: z
    .string()
    .optional()
    .meta({
      description: 'For Uptime Kuma’s push address: the response time in milliseconds. Ignored if it is not a number.',
      examples: ['12.5'],
    }),
  msg: z.string().optional().meta({
    description: 'Output of the job, if the request has no body. Its first line is kept, up to 200 characters.',
  }),
})

export type HeartbeatQuery = z.infer<typeof heartbeatQuery>
