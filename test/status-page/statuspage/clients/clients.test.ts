import { describeWithOwnPackages } from '../../../support/own-packages.ts'

describeWithOwnPackages(import.meta.url, 'client libraries of Statuspage', () => import('./clients.ts'))
