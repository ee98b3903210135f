/** A library without types; these cover what the tests use. */
declare module '@aero/statuspage' {
  interface Page {
    readonly id: string
    readonly name: string
    readonly url: string
    readonly updated: Date
  }

  interface Status {
    readonly indicator: string
    readonly description: string
  }

  interface Component {
    readonly id: string
    readonly name: string
    readonly status: string
    readonly children: readonly Component[]
  }

  interface Incident {
    readonly id: string
    readonly name: string
    readonly impact: string
    readonly status: string
    readonly url: string
    readonly updated: Date
    readonly updates: readonly { readonly description: string; readonly status: string }[]
  }

  class StatusPageClient {
    constructor(url: string)
    summary(): Promise<{
      readonly page: Page
      readonly status: Status
      readonly components: readonly Component[]
      readonly incidents: readonly Incident[]
      readonly maintenances: readonly Incident[]
    }>
    status(): Promise<{ readonly page: Page; readonly status: Status }>
    components(): Promise<readonly Component[]>
    incidents(unresolved?: boolean): Promise<readonly Incident[]>
    maintenances(type: number): Promise<readonly Incident[]>
  }

  const library: {
    readonly StatusPageClient: typeof StatusPageClient
    readonly maintenances: { readonly ALL: number; readonly ACTIVE: number; readonly UPCOMING: number }
  }
  export = library
}
