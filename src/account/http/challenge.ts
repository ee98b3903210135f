import { Hono } from 'hono'
import type { PrismaClient } from '../../generated/prisma/client.ts'
import { hostNameOf } from '../../http/request/host-header.ts'
import { CHALLENGE_PATH, challengeResponse } from '../custom-domain/custom-domain.ts'

/** Serves the challenge of a proven domain, so that it stays proven once it points here. */
export function challengeRoutes({ db }: { readonly db: PrismaClient }): Hono {
  return new Hono().get(`${CHALLENGE_PATH}/:token{[0-9a-v]{32}}`, async (c, next) => {
    const host = hostNameOf(c.req.header('host'))
    const content = await challengeResponse(db, host, c.req.param('token'))
    return content === null ? next() : c.text(content, 200, { 'cache-control': 'no-store' })
  })
}
