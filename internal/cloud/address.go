package cloud

import (
	"cmp"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// parseAddress parses the API's address. Its error does not repeat the address,
// which may contain a password.
func parseAddress(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || u.Opaque != "" || !hasValidPort(u) {
		return nil, errors.New("must be a URL such as " + Address)
	}
	if u.User != nil || strings.Contains(u.Path, "@") || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("must not contain a user, a query or a fragment")
	}
	ip := net.ParseIP(u.Hostname())
	loopback := strings.EqualFold(u.Hostname(), "localhost") || ip != nil && ip.IsLoopback()
	if u.Scheme != "https" && !(u.Scheme == "http" && loopback) {
		return nil, errors.New("must start with https://; " +
			"http:// is allowed only for localhost and 127.0.0.1")
	}
	u.Host = strings.ToLower(u.Host)
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = strings.TrimRight(u.RawPath, "/")
	return u, nil
}

// hasValidPort reports whether the port of u can be dialled, if it has one. net/url takes any number.
func hasValidPort(u *url.URL) bool {
	_, err := strconv.ParseUint(cmp.Or(u.Port(), "0"), 10, 16)
	return err == nil
}

// IsProxy reports whether s is the address of a proxy. net/http ignores others, and
// connects directly. A password with a #, / or ? that is not percent-encoded ends the address early,
// and makes a host of the user: the rest has the @.
func IsProxy(s string) bool {
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	schemes := []string{"http", "https", "socks5", "socks5h"}
	return err == nil && u.Hostname() != "" && hasValidPort(u) && slices.Contains(schemes, u.Scheme) &&
		!strings.Contains(u.Path+u.RawQuery+u.Fragment, "@")
}

// authorities returns the system's certificate authorities and those in the file, which is PEM.
func authorities(name string) (*x509.CertPool, error) {
	data, _, err := readFile(name, maxAuthorities)
	if err != nil {
		return nil, err
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	const begin = "-----BEGIN CERTIFICATE-----"
	blocks := strings.Split(string(data), begin)[1:]
	if len(blocks) == 0 {
		return nil, errors.New("contains no PEM certificate")
	}
	for i, rest := range blocks {
		// Decode one block at a time, because pem.Decode skips damaged ones.
		var authority *x509.Certificate
		if block, _ := pem.Decode([]byte(begin + rest)); block != nil {
			authority, _ = x509.ParseCertificate(block.Bytes)
		}
		if authority == nil {
			return nil, fmt.Errorf("certificate %d is damaged", i+1)
		}
		pool.AddCert(authority)
	}
	return pool, nil
}
