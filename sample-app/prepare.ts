import type { NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { refuseOtherHosts } from './http/refuse-other-hosts.js';
import { refuseOtherOrigins } from './http/refuse-other-origins.js';
import { setSecurityHeaders } from './http/security-headers.js';

/** What `main.ts` and the tests set up alike. The application must have been created with `bodyParser: false`. */
export function prepare(app: NestExpressApplication): void {
  app.use(setSecurityHeaders);
  app.use(refuseOtherHosts);
  // In front of the parsers: of what is refused nothing is read.
  app.use(refuseOtherOrigins);
  app.useBodyParser('json');
  // Whatever else it calls itself, or does not (`curl -T`, `curl --data`): a body that nobody parses would be an empty file.
  // As bytes: a parser of texts makes a replacement character of each byte that it cannot read, and says nothing.
  app.useBodyParser('raw', { type: () => true, limit: '1mb' });
  const description = new DocumentBuilder()
    .setTitle('Documents on a shared volume')
    .setDescription(
      'Many instances edit the same files. Each request that changes one holds its lock, and hands the fencing token ' +
        'to the store. 423: the lock was busy for as long as the request would wait. 409: a newer holder has written. ' +
        '503: no ZooKeeper, or the lock was lost.',
    )
    .setVersion('1')
    .build();
  SwaggerModule.setup('docs', app, () => SwaggerModule.createDocument(app, description));
}
