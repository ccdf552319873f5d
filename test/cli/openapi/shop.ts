/** A description without limits that passes all other rules of the OWASP ruleset. */
export function shop(version: string): string {
  return `# The API of the shop.
openapi: ${version}
info: { title: Shop, version: '1.0' }   # flow style
servers:
- url: https://api.example.com/v1
  description: production
  x-internal: false
security:
- bearer: []
paths:
  /login:
    post:
      summary: Log in
      responses:
        '200': { description: Logged in, headers: { Access-Control-Allow-Origin: { schema: { $ref: '#/components/schemas/Origin' } } } }
        '400':
          $ref: '#/components/responses/Failed'
        '401':
          $ref: '#/components/responses/Failed'   # for all operations
        '500':
          $ref: '#/components/responses/Failed'
        # more to come
  /teams/{team}/search:
    get:
      description: >
        Searches the products
        of a team.
      parameters:
        - { name: team, in: path, required: true, schema: { type: string, maxLength: 64, format: uuid } }
      responses:
        200:
          description: Found
          headers:
            Access-Control-Allow-Origin: { schema: { $ref: '#/components/schemas/Origin' } }
        '400':
          $ref: '#/components/responses/Failed'
        '401':
          $ref: '#/components/responses/Failed'
        '500':
          $ref: '#/components/responses/Failed'
components:
  securitySchemes:
    bearer: { type: http, scheme: bearer, bearerFormat: 'JWT of RFC8725' }
  schemas:
    Origin: { type: string, maxLength: 256, pattern: '^https://' }
  responses:
    Failed:
      description: |
        The request failed.
      headers:
        Access-Control-Allow-Origin: { schema: { $ref: '#/components/schemas/Origin' } }
      content:
        application/json: { schema: { type: object } }
`
}

export const POLICIES = `version: 1
policies:
  - { name: all, key: principal, limit: 100, per: 1m }
  - { name: login, limit: 5, per: 15m, match: { route: POST /login } }
  - name: search
    key: [principal, "header:x-team"]
    limit: { free: 10, pro: 100 }
    per: 1m
    match: { route: GET /v1/teams/:id/search, customer: acme }
    cost: { reserve: 5, settle: db_ms }
    unit: ms
  - { name: quiet, limit: 1, per: 1h, mode: shadow }
`
