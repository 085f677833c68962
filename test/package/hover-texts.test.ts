import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));
const FILE = join(REPOSITORY, 'snippets', 'hover.ts');

/** A cursor stands behind each `/*name*\/`, on what is hovered over. */
const SOURCE = `
import { type AcquireOptions, createLockService, DistributedLockModule, Locked, type LockedOptions, LockService } from 'nestjs-zookeeper-lock';
import { type BreakOptions, type DrainOptions, type LockDoctor, type LockDoctorOptions } from 'nestjs-zookeeper-lock/doctor';
import { type LockRecipe, LockSimulator, type LockSimulatorOptions, type SimulatedClient, type SimulatorFaults } from 'nestjs-zookeeper-lock/simulator';
export const one = DistributedLockModule./*forRoot*/forRoot({ /*connect*/connect: 'zk:2181', /*name*/name: 'one' });
export const two = DistributedLockModule./*forRootAsync*/forRootAsync({ /*useFactory*/useFactory: () => ({ connect: 'zk:2181' }) });
export class Orders {
  @/*Locked*/Locked('/locks/:id', { /*keys*/keys: (/*order*/order) => ({ id: order.id }), /*onBusy*/onBusy: 'skip' })
  async pay(order: { id: string }): Promise<void> { void order; }
}
export type ForRoot = Parameters<typeof DistributedLockModule.forRoot>[0];
export type ForRootAsync = Parameters<typeof DistributedLockModule.forRootAsync>[0];
export type Service = LockService;
export type OfOneCall = AcquireOptions;
export type OfLocked = LockedOptions;
export type Alone = typeof createLockService;
export type Simulator = LockSimulator;
export type OfSimulator = LockSimulatorOptions;
export type Faults = SimulatorFaults;
export type Client = SimulatedClient;
export type Recipe = LockRecipe;
export type Doctor = LockDoctor;
export type OfDoctor = LockDoctorOptions;
export type OfBreak = BreakOptions;
export type OfDrain = DrainOptions;
new LockSimulator()./*plan*/plan([{ atMs: 1, fault: 'lagServer', /*with*/with: [1, 5] }]);
`;

const service = startLanguageService();
const program = service.getProgram()!;
const checker = program.getTypeChecker();

/** The members of a type of the file, with what an editor shows of each. */
function textsOf(name: string): Map<string, string> {
  const file = program.getSourceFile(FILE)!;
  const declaration = file.statements.find((one) => ts.isTypeAliasDeclaration(one) && one.name.text === name)!;
  const members = checker.getTypeAtLocation(declaration).getProperties();
  return new Map(
    members
      .filter((member) => !/^(?:__@|__#|#)/.test(member.name))
      .map((member) => [member.name, ts.displayPartsToString(member.getDocumentationComment(checker))]),
  );
}

/** What an editor shows: the signature, and the text under it. */
function hover(name: string): { readonly signature: string; readonly text: string } {
  const info = service.getQuickInfoAtPosition(FILE, SOURCE.indexOf(`/*${name}*/`) + `/*${name}*/`.length);
  return {
    signature: ts.displayPartsToString(info?.displayParts),
    text: ts.displayPartsToString(info?.documentation),
  };
}

describe('an editor', () => {
  it.each([
    ['forRoot', 14],
    ['forRootAsync', 7],
    ['Service', 10],
    ['OfOneCall', 6],
    ['OfLocked', 12],
    ['Simulator', 12],
    ['OfSimulator', 9],
    ['Faults', 32],
    ['Client', 6],
    ['Recipe', 3],
    ['Doctor', 3],
    ['OfDoctor', 11],
    ['OfBreak', 4],
    ['OfDrain', 3],
  ])('shows a text for each member of %s', (name, least) => {
    const texts = textsOf(name.charAt(0).toUpperCase() + name.slice(1));

    expect(texts.size).toBeGreaterThanOrEqual(least);
    expect([...texts].filter(([, text]) => text.length < 20)).toEqual([]);
  });

  it.each([
    ['forRoot', 'One connection to ZooKeeper'],
    ['forRootAsync', 'forRoot'],
    ['connect', 'zk1:2181'],
    ['name', 'connections'],
    ['useFactory', 'options'],
    ['Locked', 'while a lock is held'],
    ['keys', 'placeholders'],
    ['onBusy', 'skip'],
    ['plan', 'before anything happens'],
    ['with', 'The arguments of the method'],
  ])('shows a text for %s where it is written', (name, part) => {
    expect(hover(name).text).toContain(part);
  });

  it('shows a text for the options by their names, and the parameters of keys with the types of the method', () => {
    expect(hover('forRoot').signature).toContain('options: DistributedLockOptions & DistributedLockExtras');
    expect(hover('forRootAsync').signature).toContain('options: DistributedLockAsyncOptions');
    expect(hover('order').signature).toContain('id: string');
  });
});

function startLanguageService(): ts.LanguageService {
  const { config } = ts.readConfigFile(join(REPOSITORY, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as {
    config: object;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, REPOSITORY);
  const read = (path: string): string | undefined => (path === FILE ? SOURCE : ts.sys.readFile(path));
  return ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => [FILE],
    getScriptVersion: () => '1',
    getScriptSnapshot: (path) => {
      const text = read(path);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => REPOSITORY,
    getDefaultLibFileName: (settings) => ts.getDefaultLibFilePath(settings),
    fileExists: (path) => path === FILE || ts.sys.fileExists(path),
    readFile: read,
    directoryExists: (path) => ts.sys.directoryExists(path),
  });
}
