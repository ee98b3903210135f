/** The types that the tests use; the library has none. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  export interface Claims {
    readonly sub: string
    readonly [claim: string]: unknown
  }

  export interface Grant {
    addOIDCScope(scope: string): void
    save(): Promise<string>
  }

  interface RequestContext {
    readonly oidc: {
      readonly client: { readonly clientId: string }
      readonly session: { readonly accountId: string }
      readonly provider: Provider
    }
  }

  class Provider {
    constructor(
      issuer: string,
      configuration: {
        readonly clients: readonly Readonly<Record<string, unknown>>[]
        readonly claims: Readonly<Record<string, readonly string[]>>
        readonly cookies: { readonly keys: readonly string[] }
        readonly features: { readonly devInteractions: { readonly enabled: boolean } }
        readonly pkce: { readonly required: () => boolean }
        readonly interactions: { readonly url: (ctx: unknown, interaction: { readonly uid: string }) => string }
        readonly findAccount: (
          ctx: unknown,
          id: string,
        ) => { readonly accountId: string; claims(): Claims | Promise<Claims> }
        readonly loadExistingGrant: (ctx: RequestContext) => Promise<Grant>
      },
    )
    readonly Grant: new (about: {
      readonly accountId: string
      readonly clientId: string
    }) => Grant
    callback(): (request: IncomingMessage, response: ServerResponse) => void
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: object,
      options: { readonly mergeWithLastSubmission: boolean },
    ): Promise<void>
  }

  export { Provider }
}
