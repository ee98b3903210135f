import './enums.ts'
import './incoming-body.ts'
import './integration.ts'
import './mutations.ts'
