import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.core.WhitespaceAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.FieldType;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.ReaderUtil;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopScoreDocCollectorManager;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.search.similarities.LMDirichletSimilarity;
import org.apache.lucene.search.similarities.Similarity;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;

/**
 * Lucene behind two pipes: terms that were analysed already come in, numbers of documents go out.
 *
 * <p>{@code Lucene build DIRECTORY THREADS} indexes each line as a document and prints its own peak memory in
 * bytes. {@code Lucene search DIRECTORY bm25 K1 B}, or {@code … dirichlet MU}, answers each line {@code K TERM TERM …}
 * with the nanoseconds that the search took, scores and numbers of the K best documents.
 */
public final class Lucene {
    private static final String TEXT = "text";
    private static final String NUMBER = "number";
    private static final int BATCH = 1000;
    private static final double BUFFER_MB = 512;

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Path path = Path.of(arguments[1]);
        try (Directory directory = FSDirectory.open(path)) {
            if (arguments[0].equals("build")) {
                build(lines, directory, Integer.parseInt(arguments[2]));
            } else {
                search(lines, directory, similarity(arguments));
            }
        }
    }

    private static Similarity similarity(String[] arguments) {
        float first = Float.parseFloat(arguments[3]);
        return arguments[2].equals("bm25")
                ? new BM25Similarity(first, Float.parseFloat(arguments[4]))
                : new LMDirichletSimilarity(first);
    }

    private record Batch(long first, List<String> texts) {
    }

    private static void build(BufferedReader lines, Directory directory, int threads) throws Exception {
        FieldType type = new FieldType();
        type.setIndexOptions(IndexOptions.DOCS_AND_FREQS);
        type.freeze();
        BlockingQueue<Batch> waiting = new ArrayBlockingQueue<>(2 * threads);
        try (Analyzer analyzer = new WhitespaceAnalyzer();
                IndexWriter writer = new IndexWriter(directory, config(analyzer))) {
            List<Thread> workers = new ArrayList<>();
            for (int worker = 0; worker < threads; worker++) {
                workers.add(Thread.ofPlatform().start(() -> add(waiting, writer, type)));
            }
            long number = 0;
            List<String> texts = new ArrayList<>();
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                texts.add(line);
                if (texts.size() == BATCH) {
                    waiting.put(new Batch(number, texts));
                    number += texts.size();
                    texts = new ArrayList<>();
                }
            }
            waiting.put(new Batch(number, texts));
            for (Thread worker : workers) {
                waiting.put(new Batch(-1, List.of()));
            }
            for (Thread worker : workers) {
                worker.join();
            }
            writer.forceMerge(1);
        }
        System.out.println(peakBytes());
    }

    private static IndexWriterConfig config(Analyzer analyzer) {
        return new IndexWriterConfig(analyzer)
                .setOpenMode(IndexWriterConfig.OpenMode.CREATE)
                .setRAMBufferSizeMB(BUFFER_MB)
                .setUseCompoundFile(false);
    }

    private static void add(BlockingQueue<Batch> waiting, IndexWriter writer, FieldType type) {
        try {
            for (Batch batch = waiting.take(); batch.first() >= 0; batch = waiting.take()) {
                long number = batch.first();
                for (String text : batch.texts()) {
                    Document document = new Document();
                    document.add(new Field(TEXT, text, type));
                    document.add(new NumericDocValuesField(NUMBER, number++));
                    writer.addDocument(document);
                }
            }
        } catch (IOException | InterruptedException error) {
            error.printStackTrace();
            System.exit(1);
        }
    }

    private static void search(BufferedReader lines, Directory directory, Similarity similarity) throws IOException {
        try (DirectoryReader reader = DirectoryReader.open(directory)) {
            IndexSearcher searcher = new IndexSearcher(reader);
            searcher.setSimilarity(similarity);
            searcher.setQueryCache(null);
            System.out.println(reader.numDocs());
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] words = line.split(" ");
                long started = System.nanoTime();
                ScoreDoc[] hits = best(searcher, words);
                long[] numbers = numbers(reader, hits);
                long taken = System.nanoTime() - started;
                StringBuilder answer = new StringBuilder().append(taken);
                for (int place = 0; place < hits.length; place++) {
                    answer.append(' ').append(hits[place].score).append(' ').append(numbers[place]);
                }
                System.out.println(answer);
            }
        }
    }

    private static ScoreDoc[] best(IndexSearcher searcher, String[] words) throws IOException {
        int k = Integer.parseInt(words[0]);
        BooleanQuery.Builder query = new BooleanQuery.Builder();
        for (int place = 1; place < words.length; place++) {
            query.add(new TermQuery(new Term(TEXT, words[place])), BooleanClause.Occur.SHOULD);
        }
        // nobody counts the hits: documents that cannot be among the best may be left out
        return searcher.search(query.build(), new TopScoreDocCollectorManager(k, null, 1)).scoreDocs;
    }

    /** The number of each hit, from a column that is read in the order of the documents. */
    private static long[] numbers(IndexReader reader, ScoreDoc[] hits) throws IOException {
        Integer[] order = new Integer[hits.length];
        for (int place = 0; place < order.length; place++) {
            order[place] = place;
        }
        java.util.Arrays.sort(order, (a, b) -> Integer.compare(hits[a].doc, hits[b].doc));
        long[] numbers = new long[hits.length];
        List<LeafReaderContext> leaves = reader.leaves();
        NumericDocValues values = null;
        int leaf = -1;
        for (int place : order) {
            int found = ReaderUtil.subIndex(hits[place].doc, leaves);
            if (found != leaf) {
                leaf = found;
                values = leaves.get(leaf).reader().getNumericDocValues(NUMBER);
            }
            values.advanceExact(hits[place].doc - leaves.get(leaf).docBase);
            numbers[place] = values.longValue();
        }
        return numbers;
    }

    private static long peakBytes() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmHWM:")) {
                return 1024 * Long.parseLong(line.replaceAll("\\D", ""));
            }
        }
        return Runtime.getRuntime().totalMemory();
    }
}
