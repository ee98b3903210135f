import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Claims } from 'oidc-provider'
import { Provider } from 'oidc-provider'
import { atTheEnd } from './at-the-end.ts'

/** Credentials of our service at the provider. */
export const openIdClient = { id: 'allclear', secret: 'a client secret of the tests' } as const

/** An OpenID provider on loopback at which people sign in without a form. */
export interface OpenIdProvider {
  readonly issuer: string
  /** The person who signs in next; null: refuses. */
  person: Claims | null
  /** Starts to serve a client. Until then, requests are answered by 503. */
  serve(redirectUri: string): void
}

/** Starts a provider; it is stopped after the tests of the file. */
export async function startOpenIdProvider(): Promise<OpenIdProvider> {
  let listener: RequestListener = (_request, response) => void response.writeHead(503).end()
  const server = createServer((request, response) => listener(request, response))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  atTheEnd(() => void server.close())
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const started: OpenIdProvider = {
    issuer,
    person: null,
    serve(redirectUri) {
      const provider = providerFor(issuer, redirectUri, () => started.person)
      const callback = provider.callback()
      listener = (request, response) => {
        if (!request.url?.startsWith('/login/')) return callback(request, response)
        const { person } = started
        const result = person === null ? { error: 'access_denied' } : { login: { accountId: person.sub } }
        void provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
      }
    },
  }
  return started
}

function providerFor(issuer: string, redirectUri: string, person: () => Claims | null): Provider {
  return new Provider(issuer, {
    clients: [
      {
        client_id: openIdClient.id,
        client_secret: openIdClient.secret,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    cookies: { keys: ['a key of the tests'] },
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => true },
    interactions: { url: (_ctx, { uid }) => `/login/${uid}` },
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => person() ?? { sub: id } }),
    async loadExistingGrant({ oidc: { client, session, provider } }) {
      const grant = new provider.Grant({ accountId: session.accountId, clientId: client.clientId })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  })
}
