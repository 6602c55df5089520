package cloud

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"
)

// What net/http would not recognize as a proxy is refused, because it would connect without it.
func TestIsProxy(t *testing.T) {
	for address, want := range map[string]bool{
		"proxy": true, "proxy:3128": true, "http://bob:pass@proxy:3128/": true, "https://proxy": true,
		"socks5://10.0.0.1:1080": true, "socks5h://proxy": true, "[::1]:3128": true,
		"http://proxy:65535": true, "http://bob:12%23hunter2@proxy:1": true,

		"http://bob:hunter2@proxy:port": false, "http://proxy:1%zz": false, " http://proxy:1": false,
		"http://": false, "://x": false, "ftp://proxy": false, "http://[::1": false, "\x01": false,
		"http://proxy:65536": false,
		// A password that ends the address early.
		"http://bob:12#hunter2@proxy:1": false, "http://bob:12/hunter2@proxy:1": false,
		"http://bob:12?hunter2@proxy:1": false, "http://bob#hunter2@proxy:1": false,
		"http://bob:p@hunter2#@proxy:1": false,
	} {
		if got := IsProxy(address); got != want {
			t.Errorf("IsProxy(%q): %v", address, got)
		}
	}
}

// Every certificate in the file is trusted, or the file is refused: encoding/pem skips damaged ones.
func TestAuthorities(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	authority := func(name string) (string, *x509.Certificate) {
		c := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true}
		c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
		c.Subject.CommonName = name
		der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
		if err != nil {
			t.Fatal(err)
		}
		c, err = x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), c
	}
	first, firstCert := authority("first")
	second, secondCert := authority("second")
	pool, err := authorities(writeTokenFile(t, "# ours\n"+first+"\n# theirs\n"+second))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*x509.Certificate{firstCert, secondCert} {
		if _, err := c.Verify(x509.VerifyOptions{Roots: pool}); err != nil {
			t.Errorf("%s: %v", c.Subject.CommonName, err)
		}
	}
	nonsense := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("nonsense")}))
	for text, want := range map[string]string{
		"":        "contains no PEM certificate",
		"nothing": "contains no PEM certificate",
		strings.ReplaceAll(first, "CERTIFICATE", "PUBLIC KEY"): "contains no PEM certificate",
		first + strings.Replace(first, "M", "!", 1):            "certificate 2 is damaged",
		nonsense + first:                             "certificate 1 is damaged",
		first + second[:len(second)-10]:              "certificate 2 is damaged",
		first[:100] + "\n" + second:                  "certificate 1 is damaged",
		first + strings.Repeat("\n", maxAuthorities): "is larger than 4 MiB",
	} {
		if _, err := authorities(writeTokenFile(t, text)); err == nil || err.Error() != want {
			t.Errorf("%.50q: %v, want %s", text, err, want)
		}
	}
	if _, err := authorities("/none.pem"); err == nil {
		t.Error("a missing file is accepted")
	}
}
